#pragma once
// What software families of measured runs are, and its habits: configs/families.json, and a file of
// that name beside the table.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/measured/named_models.hpp"
#include "titer/measured/run_row.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// How a source counts the FLOPs of attention in its rates.
enum class CountedAttention { full, causal };
inline constexpr std::array<Choice<CountedAttention>, 2> kCountedAttentions = {
    {{"full", CountedAttention::full}, {"causal", CountedAttention::causal}}};

/// What a family of rows ran, and what that software did where a row does not say.
struct RunHabits {
  std::string stack{};                             // a name or file; "": not known
  std::string cluster{};                           // likewise; "": by chip and devices of a node
  std::string chip{};                              // a name; "": as the row calls it
  std::string network{};                           // between nodes, in the words of rows
  std::string transport{};                         // its name or file; "": the cluster's own
  std::string power_cap{};                         // of a device; "": its rated power
  std::string model{};                             // a name or file, of rows that state no layers
  std::shared_ptr<const Model> named{};            // where the row's dimensions do not tell it
  UsualWidths widths{};                            // where the row leaves some blank
  std::optional<std::int64_t> predicted_tokens{};  // modules for further tokens
  std::optional<bool> flash{};                     // fused attention
  std::string recompute{};                         // in the words of rows; "": not known
  bool overrides_recompute = false;                // that holds whatever a row says
  std::string selective{};                         // what "selective" alone means, likewise
  std::optional<bool> distribute_saved_activations{};
  std::optional<bool> prefetch{};
  std::optional<bool> bf16_states{};
  std::optional<bool> overlap_grad_reduce{};
  std::optional<Sharding> sharding{};
  std::optional<bool> tf32{};  // products of fp32 are of tf32
  std::optional<std::int64_t> sequence{};
  std::optional<std::int64_t> vocabulary{};           // also of rows whose own is inferred
  std::optional<std::int64_t> vocabulary_multiple{};  // that it is padded to
  std::optional<bool> sequence_parallel{};            // whatever a row says
  bool fuller_middle =
      false;  // from four stages on: the last has fewer layers, those before it more
  bool splits_experts = false;   // over the tensor group, where a row does not say
  bool splits_residual = false;  // likewise, what is between a layer's products
  std::optional<TensorOverlap> tensor_overlap{};
  std::optional<DataType> gradient{};
  std::optional<bool> dropout{};
  std::optional<bool> parallel{};  // attention and MLP side by side
  std::string optimizer{};         // its name; "": Adam where a row says nothing
  std::optional<Adapters> adapters{};
  std::optional<bool> fp8_activation_inputs{};
  std::optional<bool> transposes_narrow_weights{};
  std::optional<NarrowWeights> narrow_base{};  // how weights that are not trained are held
  std::string offload{};                       // in the words of rows; "": nothing
  std::optional<ExpertDispatch> expert_dispatch{};
  std::optional<double> routing_exponent{};  // of Zipf's law; otherwise experts are balanced
  std::optional<bool> expert_overlap{};
  std::optional<bool> fused_experts{};
  std::optional<bool> narrow_logits{};
  std::string graph{};  // what is launched as one, in the words of rows; "": not known
  std::optional<CountedAttention> rates{};  // otherwise a rate alone tells no time

  /// The named model, if it is one; nullptr otherwise.
  [[nodiscard]] const Transformer* named_transformer() const {
    return named == nullptr ? nullptr : named->if_transformer();
  }
};

/// A family, or software or a machine by a word of it; in `where` such rows of these as have a word
/// in a column, and in that one's `where` such of those.
struct RunFamily {
  std::string column{};
  std::string word{};  // as plain_words() has it
  std::string like{};  // the family that this is as, but for what it says itself
  RunHabits habits{};
  std::vector<RunFamily> where{};
};

/// Words of a chip's name in the order of the alphabet, without makers, servers and what its memory
/// is of: "NVIDIA A100 80GB PCIe", "A100-PCIE-80G", "8x H100 SXM5 (80 GB)".
[[nodiscard]] std::vector<std::string> chip_words(const std::string& name);

/// What the other says takes the place of what these say.
void put_over(const RunHabits& other, RunHabits& habits);

class RunFamilies {
 public:
  /// The shipped ones, and before them those of families.json in the folder, if it is there. Throws
  /// InputError with what is wrong in either.
  [[nodiscard]] static RunFamilies load(const std::filesystem::path& folder);

  /// Of the family whose name begins the row's and is the longest, else of the most telling word in
  /// its source and in what its notes name first, or of the rest of these, the family or the
  /// sharding; what neither says, of its machine and its model. The row's own columns
  /// `stack`, `cluster` and `software` are heard before. Throws InputError where none of these
  /// tells the software.
  [[nodiscard]] RunHabits habits_of(const RunRow& row) const;

 private:
  /// What tables call a chip.
  struct ChipName {
    std::string plain;               // as plain_words() has it
    std::vector<std::string> words;  // as chip_words() has them
    std::string chip;
  };
  struct File {
    std::vector<std::pair<std::string, RunFamily>> families;
    std::vector<std::pair<std::string, RunFamily>> software;  // the more telling words first
    std::vector<std::pair<std::string, RunFamily>> models;    // by words of their plain names
    std::vector<std::pair<std::string, RunFamily>> machines;  // of several, the later say more
    std::vector<ChipName> chips;
  };
  /// Of all models whose word the row's name has.
  void overlay_models(const RunRow& row, RunHabits& habits) const;
  /// Of all machines whose word the row has for its chip or its network; the network also of those
  /// that its notes name.
  void overlay_machines(const RunRow& row, RunHabits& habits) const;
  [[nodiscard]] std::string chip_of(const RunRow& row) const;
  void overlay(const RunFamily& family, const RunRow& row, RunHabits& habits) const;
  [[nodiscard]] static File read(const Document& document);
  [[nodiscard]] static ChipName chip_name(const std::string& called, const std::string& chip);
  [[nodiscard]] static std::vector<ChipName> read_chips(Reader& in);
  /// Of the first file, which is of this document.
  void check_likes(const Document& document) const;
  void check_like(Reader& in, const RunFamily& family) const;
  /// Whether one is like the other, or what it is like, or a part of either.
  [[nodiscard]] bool leads_to(const RunFamily& from,
                              const RunFamily& family,
                              std::vector<const RunFamily*>& seen) const;
  [[nodiscard]] const RunFamily* family_named(const std::string& name) const;
  [[nodiscard]] const RunFamily* software_in(const std::string& text) const;
  [[nodiscard]] const RunFamily* software_of(const RunRow& row) const;

  std::filesystem::path folder_;
  std::vector<File> files_;      // the folder's before the shipped ones
  std::vector<ChipName> chips_;  // of the files in this order, and the shipped ones by their own
};

}  // namespace titer
