#include "shell_batch.hpp"

#include <algorithm>

#include "shell_values.hpp"

namespace titer::shell {

BatchOptions::BatchOptions(std::string_view text, int source) {
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    read_line(text.substr(begin, end - begin), {.source = source, .line = line, .column = 1});
    begin = end + 1;
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
  for (const std::string_view name : {"--gpus-per-node", "--gres"}) {
    const std::string told = value(name);
    const std::size_t colon = told.rfind(':');
    std::string number = colon == std::string::npos ? told : told.substr(colon + 1);
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
      return number;
    }
  }
  return "";
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
