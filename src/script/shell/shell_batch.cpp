#include "shell_batch.hpp"

#include <algorithm>
#include <array>

#include "shell_values.hpp"
#include "titer/units/blanks.hpp"

namespace titer::shell {
namespace {

/// "8" of "gpu:a100:8(S:0-1),lscratch:200", whose resources have names, and of "a100:8"; "" of what
/// tells of none.
std::string gpus_told(std::string_view told, bool has_names) {
  constexpr std::array<std::string_view, 5> names = {"gpu", "npu", "dcu", "mlu", "hpu"};
  for (const std::string_view entry : divided(told, ",")) {
    const std::string_view one = entry.substr(0, entry.find('('));
    const std::string_view number = one.substr(one.rfind(':') + 1);
    const bool is_named =
        std::ranges::any_of(names, [&](std::string_view name) { return one.starts_with(name); });
    if ((is_named || !has_names) && !number.empty() &&
        number.find_first_not_of("0123456789") == std::string_view::npos) {
      return std::string(number);
    }
  }
  return "";
}

}  // namespace

BatchOptions::BatchOptions(std::string_view text, int source) {
  int line = 1;
  for (const std::string_view written : divided(text, "\n")) {
    read_line(written, {.source = source, .line = line++, .column = 1});
  }
}

std::map<std::string, std::string, std::less<>> BatchOptions::variables() const {
  std::map<std::string, std::string, std::less<>> made;
  const std::string nodes = value("--nodes");
  const std::string gpus = gpus_of_a_node();
  const std::string tasks = value("--ntasks-per-node");
  const auto tell = [&](const char* name, const std::string& told) {
    if (!told.empty()) {
      made[name] = told;
    }
  };
  tell("SLURM_NNODES", nodes);
  tell("SLURM_JOB_NUM_NODES", nodes);
  tell("SLURM_GPUS_PER_NODE", gpus);
  tell("SLURM_GPUS_ON_NODE", gpus);
  tell("SLURM_NTASKS_PER_NODE", tasks);
  tell("SLURM_NTASKS", value("--ntasks"));
  tell("SLURM_NPROCS", value("--ntasks"));
  return made;
}

std::string BatchOptions::value(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) {
      return option.value.chars;
    }
  }
  return "";
}

std::string BatchOptions::gpus_of_a_node() const {
  const std::string number = gpus_told(value("--gpus-per-node"), false);
  return number.empty() ? gpus_told(value("--gres"), true) : number;
}

void BatchOptions::add(const BatchOptions& others) {
  options_.insert(options_.end(), others.options_.begin(), others.options_.end());
}

void BatchOptions::read_line(std::string_view line, Origin at) {
  if (!line.starts_with("#SBATCH")) {
    return;
  }
  const std::string_view kept = line.substr(0, line.find(" #", 7));
  const std::vector<Text> words = split_words(Text::written(kept, at));
  read(words.begin() + 1, words.end());
}

void BatchOptions::read(std::vector<Text>::const_iterator word,
                        std::vector<Text>::const_iterator end) {
  for (; word != end; ++word) {
    const std::size_t equals = word->chars.find('=');
    if (word->at(0) != '-') {
      continue;
    }
    const bool has_next = equals == std::string::npos && word + 1 != end;
    std::string name = word->chars.substr(0, equals);
    name = name == "-N" ? "--nodes" : (name == "-n" ? "--ntasks" : name);
    options_.push_back({name,
                        has_next
                            ? *(word + 1)
                            : word->part(std::min(equals, word->size() - 1) + 1, word->size())});
  }
}

}  // namespace titer::shell
