#pragma once
// Measured collectives beside their predictions, a row for every size.

#include <filesystem>
#include <vector>

#include "titer/measured/comparison.hpp"

namespace titer {

/// Compares a table of the corpus. case_id: file's stem, ":", bytes; family: who measured it, as
/// the end of the stem says ("aiconfigurator", "vtrain", "ml-engineering", "galvatron"), else
/// "nccl-tests"; chip: of the machine; stack and grade: from INDEX.csv beside the table, if it is
/// there. Every row of a table whose machine is not known is skipped with the reason. Throws
/// InputError where the table cannot be understood.
[[nodiscard]] std::vector<Comparison> compare_collective(const std::filesystem::path& table);

}  // namespace titer
