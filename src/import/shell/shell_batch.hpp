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
  explicit BatchOptions(std::string_view text);

  struct Option {
    std::string name;
    Text value;
  };
  [[nodiscard]] const std::vector<Option>& all() const { return options_; }
  /// SLURM_NNODES and its like.
  [[nodiscard]] std::map<std::string, std::string, std::less<>> variables() const;

 private:
  [[nodiscard]] std::string value(std::string_view name) const;
  /// "8", "h100:8", "gpu:h100:8".
  [[nodiscard]] std::string gpus_of_a_node() const;
  void read(std::string_view line, int number);

  std::vector<Option> options_;
};

}  // namespace titer::shell
