#pragma once
// Whose file it is that is imported.

#include <string>
#include <string_view>

#include "titer/import/foreign_text.hpp"
#include "titer/import/imported.hpp"

namespace titer {

inline constexpr std::string_view kHuggingFace = "a HuggingFace configuration";
inline constexpr std::string_view kDeepSpeed = "a DeepSpeed configuration";
inline constexpr std::string_view kMegatron = "Megatron-LM arguments";
inline constexpr std::string_view kMegatronDeepSpeed = "Megatron-DeepSpeed arguments";
inline constexpr std::string_view kNemo = "a NeMo configuration";
inline constexpr std::string_view kBridge = "a Megatron-Bridge configuration";
inline constexpr std::string_view kNeox = "a GPT-NeoX configuration";
inline constexpr std::string_view kTorchtitan = "a torchtitan configuration";

/// A file's text as a document, with what it is.
struct Foreign {
  Document document;
  ArgumentText arguments;  // of a shell script, less its flags
  std::string_view format;
};

/// By the file's extension and what is in it. Throws InputError for a text of none of these
/// formats.
[[nodiscard]] Foreign parse_foreign(std::string_view text,
                                    const std::string& file,
                                    const ImportOptions& options);

}  // namespace titer
