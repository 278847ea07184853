#pragma once
// A collective as somebody measured it, size by size: read from the output of nccl-tests or from a
// table of the corpus of measured results.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/collectives/collective.hpp"

namespace titer {

/// One size. Sizes are full results, as in room collectives.
struct MeasuredSize {
  Bytes size;
  std::optional<Seconds> out_of_place{};
  std::optional<Seconds> in_place{};
  std::string type{};    // "float", "half", …
  std::string reduce{};  // "sum"; "none" where nothing is reduced
  int line = 0;

  /// Out of place where both were measured.
  [[nodiscard]] std::optional<Seconds> time() const {
    return out_of_place ? out_of_place : in_place;
  }
};

struct MeasuredCollective {
  std::string operation;                   // "all-reduce", "scatter", …; "" when nothing tells
  std::optional<Collective> collective{};  // when it is one that we model
  std::optional<int> ranks{};
  std::optional<int> nodes{};
  std::string library_version{};  // of NCCL, "2.26.6"
  std::string hardware{};
  std::string interconnect{};
  std::string source{};
  std::vector<MeasuredSize> sizes{};
  int skipped = 0;  // rows of the source without a time
};

/// "all-reduce" for all_reduce, AllReduce, all_reduce_perf; "" for a name that is none.
[[nodiscard]] std::string operation_name(std::string_view name);
/// The collective of that name, if we model it.
[[nodiscard]] std::optional<Collective> collective_named(std::string_view operation);

/// The text that an nccl-tests or rccl-tests program prints, in the layouts of its releases: with
/// or without the column "root", a rank, the name of a node or a time before each line ("0: ",
/// "[1,0]<stdout>:", "worker-3: "), the library's log lines and other text between, a part left
/// out. Ranks and nodes are those of the "Rank" lines where none is missing; else ranks follow from
/// busbw over algbw when the operation is known. Throws InputError with the place of each row that
/// cannot be understood, or when there is none.
[[nodiscard]] MeasuredCollective parse_nccl_tests(std::string_view text, std::string source_name);
[[nodiscard]] MeasuredCollective load_nccl_tests(const std::filesystem::path& path);

/// A table of the corpus: size_bytes, time_us, algbw_GBps, busbw_GBps, op, ngpus, nnodes, dtype,
/// hardware, interconnect, source, notes; one operation and group per table. A row without a time
/// gets that of its algbw; one without either is skipped and counted.
[[nodiscard]] MeasuredCollective load_collective_table(const std::filesystem::path& path);

}  // namespace titer
