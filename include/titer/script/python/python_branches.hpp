#pragma once
// if, elif, else and try in a program that is read as text.

#include <vector>

#include "titer/script/python/python_syntax.hpp"
#include "titer/script/python/python_values.hpp"

namespace titer {

/// Statements in their order, and which of them are gone through. A condition that the constants do
/// not decide is taken not to hold.
class PythonBranches {
 public:
  [[nodiscard]] bool follows(const Statement& statement, const PythonConstants& constants);
  /// Conditions that nothing decided, with their places.
  [[nodiscard]] const std::vector<Statement>& undecided() const { return undecided_; }

 private:
  struct Branch {
    std::size_t indent = 0;
    bool is_taken = false;  // the body that is gone through now
    bool is_done = false;   // one of the bodies was
    bool is_tried = false;  // of a try, all of whose bodies but handlers are
  };
  void enter(const Statement& statement, const PythonConstants& constants);

  std::vector<Branch> open_;
  std::vector<Statement> undecided_;
};

}  // namespace titer
