#pragma once
// Arithmetic over named numbers, as text: "far.comm_s / near.comm_s >= 2".

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// A figure by its name, in SI units: "comm_total_s.data_comm".
struct NamedNumber {
  std::string name;
  double value = 0.0;
};
using NamedNumbers = std::vector<NamedNumber>;

/// Letters, digits, "_" and "." of a text, other characters as "_": a name that an expression can
/// use.
[[nodiscard]] std::string expression_name(std::string_view text);

/// The value of `text`: + - * / ^, comparisons (1 or 0), && || and c ? a : b; min max sum avg abs
/// sqrt exp ln log2 log10 floor ceil mod. Throws InputError, beginning with `where`, for what is no
/// expression ("=" and a list with "," are none), for a name that is not known (with the closest)
/// and for a value that is not finite.
[[nodiscard]] double evaluate_expression(const std::string& text,
                                         std::span<const NamedNumber> names,
                                         std::string_view where);

/// The names that `text` mentions, sorted. Throws InputError, beginning with `where`, for what is
/// no expression.
[[nodiscard]] std::vector<std::string> names_in(const std::string& text, std::string_view where);

/// Whether an expression asks something: a comparison or logic at its top, or a name alone that
/// `is_truth`. Otherwise it reckons, and is hardly ever 0.
[[nodiscard]] bool is_condition(std::string_view text,
                                const std::function<bool(std::string_view)>& is_truth);

/// An expression that is parsed once and evaluated for many values of its names, in some 50 ns. It
/// has working memory: each thread needs one of its own.
class Expression {
 public:
  /// `names` are all that may be mentioned. Throws InputError as evaluate_expression() does.
  Expression(std::string text, std::vector<std::string> names, std::string where);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  /// `values[i]` is of `names[i]`. Infinite or no number where the arithmetic says so.
  [[nodiscard]] double evaluate(std::span<const double> values);

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace titer
