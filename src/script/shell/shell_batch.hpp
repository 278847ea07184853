#pragma once
// What #SBATCH lines ask of Slurm, and what it tells the script of them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shell_text.hpp"

namespace titer::shell {

class BatchOptions {
 public:
  BatchOptions() = default;
  /// Of a script, which is number `source` of those that are gone through.
  explicit BatchOptions(std::string_view text, int source = 0);

  struct Option {
    std::string name;
    Text value;
  };
  [[nodiscard]] const std::vector<Option>& all() const { return options_; }
  /// What was asked for first is what counts.
  void add(const BatchOptions& others);
  /// What sbatch is given before a script.
  void read(std::vector<Text>::const_iterator word, std::vector<Text>::const_iterator end);
  /// SLURM_NNODES and its like.
  [[nodiscard]] std::map<std::string, std::string, std::less<>> variables() const;

 private:
  [[nodiscard]] std::string value(std::string_view name) const;
  /// "8", "h100:8", "gpu:h100:8".
  [[nodiscard]] std::string gpus_of_a_node() const;
  void read_line(std::string_view line, Origin at);

  std::vector<Option> options_;
};

}  // namespace titer::shell
