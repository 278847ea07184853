#pragma once
// What the parts of OLMo-core's importer share.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "import/import_parts.hpp"

namespace titer {

/// The last part of what stands there, in small letters: "hsdp" of "$(DataParallelType.hsdp)",
/// "bfloat16" of "DType.bfloat16"; "" for nothing.
[[nodiscard]] std::string olmo_core_word(Settings& in, std::string_view key);
/// Leaves out what is none of `known`, the first of which it is taken as.
void olmo_core_takes(const ImportTask& task,
                     std::string_view key,
                     std::initializer_list<std::string_view> known);
/// Tokens of a sequence, wherever they are told.
[[nodiscard]] std::optional<std::int64_t> olmo_core_sequence(Settings& in);
void put_olmo_core_model(const ImportTask& task);

}  // namespace titer
