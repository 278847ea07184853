#pragma once
// `--measured RUNS.csv`: the user's own runs, of which figures are learned before anything is
// asked.

#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/scenario/source.hpp"

namespace CLI {
class App;
}

namespace titer {

/// Of a question: what runs like it tell is worth most where its plan is known beforehand.
enum class PlanIs { given, sought };

class MeasuredOption {
 public:
  void add_to(CLI::App& app);
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

  /// Puts what the runs tell of the scenario behind `changes`, whose own values it keeps, and
  /// returns what to say of it; nothing where none are given. Throws InputError.
  std::vector<std::string> learn(const ScenarioSource& source,
                                 std::vector<Assignment>& changes,
                                 PlanIs plan = PlanIs::given) const;
  /// The same of a question about the scenario that it names or holds, or is.
  std::vector<std::string> learn(const DataKind& study, Asked& asked) const;

 private:
  std::vector<std::string> files_;
};

}  // namespace titer
