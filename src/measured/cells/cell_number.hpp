#pragma once
// Numbers of cells of measured runs, as people write them.

#include <optional>
#include <string>
#include <string_view>

namespace titer {

/// Whether a row cannot be read whose cell in this column is no number.
[[nodiscard]] bool needs_number(std::string_view column);

/// The column of numbers whose name has these letters; "" where there is none.
[[nodiscard]] std::string_view number_column_called(std::string_view letters);

/// The column's cell without what stands for nothing: "n/a", "nan", "-", of numbers "none", too.
[[nodiscard]] std::string_view stated_cell(std::string_view column, std::string_view cell);

/// In the unit of the column, a switch as 1 or 0: "8192", "131,072", "8k" as 8 x 1024 (of rates and
/// rows of a vocabulary as 8000), "4096 tokens", "64 GPUs", "8x8" devices, "1230 ms", "yes",
/// "FlashAttention-2", "SwiGLU"; nothing where it is none.
[[nodiscard]] std::optional<double> cell_number(std::string_view column, std::string_view cell);

/// Tokens of a batch that is stated in tokens.
struct TokenCount {
  double counted = 0;  // M as 2^20, k as 2^10
  double decimal = 0;  // M as 10^6; the same where neither stands there
};
/// "4M tokens", "2,097,152 tokens", "512 x 2048 tokens"; "4M" and "512k" alone, too, which are no
/// sequences. Nothing where a cell does not count tokens.
[[nodiscard]] std::optional<TokenCount> cell_tokens(std::string_view cell);

}  // namespace titer
