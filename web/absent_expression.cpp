// Expressions where muParser is not: in the page, and in a program that is linked against nothing
// that is loaded, as Debian has no static library of it.
#include "titer/input/expression.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace {

[[noreturn]] void refuse(std::string_view where) {
  throw InputError(std::string(where) + (where.empty() ? "" : ": ") +
                   "expected no expression: here is no muParser, which reads them; the program of "
                   "the package `titer` has it");
}

}  // namespace

double evaluate_expression(const std::string& /*text*/,
                           std::span<const NamedNumber> /*names*/,
                           std::string_view where) {
  refuse(where);
}
std::vector<std::string> names_in(const std::string& /*text*/, std::string_view where) {
  refuse(where);
}
struct Expression::Parsed {};
Expression::Expression(std::string /*text*/,
                       std::vector<std::string> /*names*/,
                       std::string where) {
  refuse(where);
}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;
double Expression::evaluate(std::span<const double> /*values*/) { refuse(""); }

}  // namespace titer
