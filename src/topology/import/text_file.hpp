#pragma once
// What the importers of this room share: a file's text, and what a user adds to it.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/topology/import/imports.hpp"

namespace titer {

/// All of a file; one that cannot be read is an InputError naming it.
[[nodiscard]] std::string file_text(const std::string& path);

/// The words of a line, without the terminal's underlining.
[[nodiscard]] std::vector<std::string> text_words(std::string_view line);
/// Throws InputError with the line of the file.
[[noreturn]] void refuse_line(std::string_view source, int line, const std::string& what);

/// A bandwidth that `program` does not say and its user gives by that key, which is noted among
/// those in use. Throws InputError without one.
[[nodiscard]] BytesPerSecond use_figure(std::string_view program,
                                        std::string_view source,
                                        std::string_view key,
                                        std::optional<BytesPerSecond> figure,
                                        std::vector<std::string>& used);

/// Whether a name comes before another, the numbers in them by value: "node9" before "node10".
[[nodiscard]] bool before_by_number(std::string_view a, std::string_view b);

/// Whether it is Slurm's topology.yaml; what that says, in the lines of topology.conf at the same
/// places.
[[nodiscard]] bool is_slurm_yaml(std::string_view text);
[[nodiscard]] std::string slurm_conf_of_yaml(std::string_view text, std::string_view source);

/// The key of a file that is read into a member `file`.
template <class F>
inline constexpr Field<F> kFileField = fields::of_schema<F, schema::text>(
                                           "file",
                                           [](const Field<F>& own, Reader& in, F& family) {
                                             family.file = in.file(own.key);
                                           },
                                           "to read, found from the folder of this one")
                                           .needed();

/// With the bandwidths that the file may leave open.
template <class F>
inline constexpr std::array<Field<F>, 4> kMachineFileFields = {
    kFileField<F>,
    fields::quantity<&LinkFigures::link, F>("link_bandwidth", "of one NVLink or xGMI link")
        .or_else("by the generation of the devices, where the file tells it"),
    fields::quantity<&LinkFigures::pcie, F>("pcie_bandwidth", "of a device's PCIe link"),
    fields::quantity<&LinkFigures::socket, F>("socket_bandwidth", "between two processors")};

}  // namespace titer
