#pragma once
// The parts of ${NAME[…]:-…}.

#include <cstddef>
#include <string_view>

namespace titer::shell {

/// The name inside of ${…}, and what follows it.
struct Reference {
  std::string_view name;
  std::string_view subscript;  // of NAME[…]
  std::string_view operation;  // ":-", "" …
  std::size_t operand = 0;     // where its word begins, in the text of the braces

  /// What the operation ends with; '\0' for none.
  [[nodiscard]] char sign() const { return operation.empty() ? '\0' : operation.back(); }
  /// Whether it makes something else of the value: ${NAME,,}, ${NAME%.json}.
  [[nodiscard]] bool changes() const {
    return !operation.empty() && std::string_view("-=+?").find(sign()) == std::string_view::npos;
  }
};

/// Of what stands between the braces, which has to outlive it; without a name where it is none.
[[nodiscard]] Reference reference_of(std::string_view inside);

}  // namespace titer::shell
