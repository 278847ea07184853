#include "processes.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

using shell::BatchOptions;
using shell::Text;

std::string_view program_of(const Text& word) {
  return std::string_view(word.chars).substr(word.chars.rfind('/') + 1);
}

template <std::size_t n>
bool is_among(std::string_view name, const std::array<std::string_view, n>& names) {
  return includes(names, name);
}

constexpr std::array<std::string_view, 5> kOfMessagePassing = {
    "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "horovodrun"};
constexpr std::array<std::string_view, 5> kOfNodes = {
    "torchrun", "deepspeed", "accelerate", "torch.distributed.run", "torch.distributed.launch"};
constexpr std::array<std::string_view, 4> kOfProgram = {"python", "python3", "bash", "sh"};

bool is_head(const Text& word) {
  const std::string_view name = program_of(word);
  return name == "srun" || is_among(name, kOfMessagePassing) || is_among(name, kOfNodes);
}

/// A count that the script tells; nobody has a million devices.
std::optional<std::int64_t> number(std::string_view text) {
  const bool is_count =
      !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == text.npos;
  return is_count ? std::optional<std::int64_t>(std::stoll(std::string(text))) : std::nullopt;
}

/// What a launcher is told, by the names that its options have.
class LauncherOptions {
 public:
  using Names = std::initializer_list<std::string_view>;

  LauncherOptions(std::vector<Text>::const_iterator head, std::vector<Text>::const_iterator end)
      : head_(head), end_(end) {}

  /// "-np 8", "--np=8", "-n8"; of an option that is given twice the first.
  [[nodiscard]] std::optional<Text> find(Names names) const {
    for (auto word = head_ + 1; word != end_; ++word) {
      for (const std::string_view name : names) {
        if (auto found = value_of(word, name)) {
          return found;
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::int64_t> count(Names names) const {
    const std::optional<Text> found = find(names);
    return found ? number(found->chars) : std::nullopt;
  }

  [[nodiscard]] Origin place() const { return head_->place(); }

 private:
  [[nodiscard]] std::optional<Text> value_of(std::vector<Text>::const_iterator word,
                                             std::string_view name) const {
    const std::string_view chars = word->chars;
    if (chars == name) {
      return word + 1 == end_ ? std::nullopt : std::optional(*(word + 1));
    }
    if (!chars.starts_with(name)) {
      return std::nullopt;
    }
    const bool has_equals = chars[name.size()] == '=';
    const bool is_joined = name.size() == 2 && shell::is_digit(chars[2]);
    return has_equals || is_joined
               ? std::optional(word->part(name.size() + (has_equals ? 1 : 0), word->size()))
               : std::nullopt;
  }

  std::vector<Text>::const_iterator head_;
  std::vector<Text>::const_iterator end_;
};

struct Hosts {
  std::int64_t count = 0;
  std::int64_t slots = 0;      // of those that tell them
  bool tell_all_slots = true;  // "a:8,b:8", not "a,b"
};

Hosts hosts_of(std::string_view list) {
  Hosts hosts;
  for (const std::string_view host : divided(list, ",")) {
    const std::size_t colon = host.rfind(':');
    const auto slots = colon == host.npos ? std::nullopt : number(host.substr(colon + 1));
    ++hosts.count;
    hosts.slots += slots.value_or(0);
    hosts.tell_all_slots = hosts.tell_all_slots && slots;
  }
  return hosts;
}

Text made(std::int64_t count, Origin place) { return Text::made(std::to_string(count), place); }

/// "8" of ppr:8:node, what Open MPI's --map-by tells of a node.
std::optional<std::int64_t> mapped(const LauncherOptions& options) {
  constexpr std::string_view begin = "ppr:";
  const std::optional<Text> by = options.find({"--map-by", "-map-by"});
  if (!by || !by->chars.starts_with(begin) || by->chars.find(":node") == std::string::npos) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(by->chars).substr(begin.size());
  return number(rest.substr(0, rest.find(':')));
}

std::optional<Text> of_message_passing(const LauncherOptions& options) {
  const auto told =
      options.count({"-npernode", "--npernode", "-N", "-ppn", "--ppn", "-perhost", "--perhost"});
  const auto of_node = told ? told : mapped(options);
  if (of_node == 1) {
    return std::nullopt;
  }
  if (auto all = options.find({"-np", "--np", "-n", "--n", "-c", "--num-proc"})) {
    return all;
  }
  const std::optional<Text> list = options.find({"-H", "-host", "--host", "--hosts", "-hosts"});
  const Hosts hosts = hosts_of(list ? std::string_view(list->chars) : std::string_view());
  if (hosts.count == 0 || shell::is_blank(list->at(0)) || list->at(0) == '$') {
    return std::nullopt;
  }
  if (of_node) {
    return made(hosts.count * *of_node, list->place());
  }
  return hosts.tell_all_slots ? std::optional(made(hosts.slots, list->place())) : std::nullopt;
}

std::optional<std::int64_t> asked(const BatchOptions& batch, std::string_view name) {
  const auto found =
      std::ranges::find_if(batch.all(), [&](const auto& option) { return option.name == name; });
  return found == batch.all().end() ? std::nullopt : number(found->value.chars);
}

/// A task that is alone on its node may have all of its devices.
std::optional<Text> of_slurm(const LauncherOptions& options, const BatchOptions& batch) {
  const auto either = [&](std::optional<std::int64_t> step, std::string_view of_job) {
    return step ? step : asked(batch, of_job);
  };
  const auto nodes = either(options.count({"-N", "--nodes"}), "--nodes");
  const auto each = either(options.count({"--ntasks-per-node"}), "--ntasks-per-node");
  const auto all = either(options.count({"-n", "--ntasks"}), "--ntasks");
  if (all && *all > nodes.value_or(1)) {
    return made(*all, options.place());
  }
  if (!nodes || each.value_or(1) == 1) {
    return std::nullopt;
  }
  return made(*nodes * *each, options.place());
}

}  // namespace

bool is_launcher(const Text& word) {
  return is_head(word) || is_among(program_of(word), kOfProgram);
}

std::optional<Text> launched_processes(const std::vector<Text>& before_program,
                                       const BatchOptions& batch) {
  const auto last = std::find_if(before_program.rbegin(), before_program.rend(), is_head);
  if (last == before_program.rend() || is_among(program_of(*last), kOfNodes)) {
    return std::nullopt;
  }
  const auto head = last.base() - 1;
  const auto end = std::find_if(head + 1, before_program.end(), is_launcher);
  const LauncherOptions options(head, end);
  return program_of(*head) == "srun" ? of_slurm(options, batch) : of_message_passing(options);
}

std::optional<Text> processes_of_environment(const shell::Variables& variables) {
  const auto written = [&](std::string_view name) {
    const auto found = variables.find(name);
    const bool is_told =
        found != variables.end() && found->second.items.size() == 1 && !found->second.depends_on;
    return is_told ? std::optional(found->second.items.front()) : std::nullopt;
  };
  const auto each = written("NPROC_PER_NODE");
  const auto nodes = written("NNODES");
  const auto of_node = each ? number(each->chars) : std::nullopt;
  const auto all = nodes ? number(nodes->chars) : std::optional<std::int64_t>(1);
  if (each) {
    return of_node && all ? std::optional(made(*of_node * *all, each->place())) : std::nullopt;
  }
  for (const std::string_view name : {"CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"}) {
    const auto visible = written(name);
    const bool is_list = visible && !visible->empty() &&
                         visible->chars.find_first_not_of("0123456789, ") == std::string::npos;
    if (is_list && all) {
      return made(hosts_of(visible->chars).count * *all, visible->place());
    }
  }
  return std::nullopt;
}

}  // namespace titer
