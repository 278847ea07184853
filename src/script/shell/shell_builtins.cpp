// What a script's commands do to the going through it: calls, sourced files, texts run as commands.

#include <algorithm>
#include <utility>

#include "shell_player.hpp"
#include "titer/input/reader.hpp"

namespace titer::shell {
namespace {

constexpr int kDeepestCall = 30;

bool is_shell_script(const Text& word) {
  const std::size_t dot = word.chars.rfind('.');
  return dot != std::string::npos && dot > 0 &&
         is_one_of(std::string_view(word.chars).substr(dot), {".sh", ".bash", ".slurm", ".sbatch"});
}

/// "run" of "./run".
std::string_view name_here(std::string_view name) {
  return name.starts_with("./") ? name.substr(2) : name;
}

/// What a here-document was written to under that name; null for none.
const Text* written_to(const std::map<std::string, Text>& documents, std::string_view name) {
  const auto found = std::ranges::find_if(documents, [&](const auto& document) {
    return name_here(document.first) == name_here(name);
  });
  return found == documents.end() ? nullptr : &found->second;
}

/// The first word that names a script, after none but what starts scripts with its options.
std::vector<Text>::iterator script_started(std::vector<Text>& words,
                                           const std::map<std::string, Text>& documents) {
  const auto found = std::ranges::find_if(words, [&](const Text& word) {
    return is_shell_script(word) ||
           (word.at(0) != '-' && written_to(documents, word.chars) != nullptr);
  });
  const bool starts =
      found == words.begin() ||
      is_one_of(words.front().chars,
                {"bash", "sh", "zsh", "exec", "nohup", "env", "sbatch", "srun", "qsub", "mpirun"});
  return starts ? found : words.end();
}

}  // namespace

bool Player::builtin(const std::string& head, const std::vector<Text>& words) {
  if (head == "exit") {
    has_left_ = true;
  } else if (head == "return") {
    has_returned_ = true;
  } else if (head == "break" || head == "continue") {
    ends_turn_ = true;
    ends_loop_ = head == "break";
  } else if (head == "unset") {
    for (const Text& word : words) {
      scope_.variables.erase(word.chars);
    }
  } else if (head == "set") {
    set_options(words);
  } else if (head == "shift") {
    shift(words);
  } else if ((head == "source" || head == ".") && words.size() > 1) {
    source(words[1]);
  } else {
    return false;
  }
  return true;
}

void Player::set_options(const std::vector<Text>& words) {
  const auto marks = std::ranges::find(words, "--", &Text::chars);
  for (auto word = words.begin(); word != marks; ++word) {
    const bool is_name = word->chars == "allexport";
    const char sign = (is_name ? *std::prev(word) : *word).at(0);
    if (is_name || ((sign == '-' || sign == '+') && word->chars.find('a') != std::string::npos)) {
      exports_all_ = sign == '-';
    }
  }
  if (marks != words.end() && !passes_) {
    scope_.arguments.emplace(marks + 1, words.end());
  }
}

std::optional<Player::FileAtHand> Player::at_hand(const Text& file) const {
  if (const Text* const written = written_to(play_.documents, file.chars)) {
    return depth_ >= kDeepestCall
               ? std::nullopt
               : std::optional(FileAtHand{.name = scope_.source,
                                          .commands = parse_script(*written, scope_.source),
                                          .batch = BatchOptions(written->chars, 0)});
  }
  const auto found =
      find_sourced_ && depth_ < kDeepestCall ? find_sourced_(file.chars) : std::nullopt;
  if (!found) {
    return std::nullopt;
  }
  const int number = static_cast<int>(play_.sources.size());
  const Text text = Text::written(found->text, {.source = number, .line = 1, .column = 1});
  return FileAtHand{.name = found->name,
                    .commands = parse_script(text, found->name),
                    .batch = BatchOptions(found->text, number)};
}

void Player::go_through(FileAtHand file, Origin at) {
  ++depth_;
  play_.sources.push_back(file.name);
  play_.sourced_at.push_back(at);
  std::swap(scope_.source, file.name);
  run(file.commands);
  std::swap(scope_.source, file.name);
  has_returned_ = false;
  --depth_;
}

void Player::source(const Text& file) {
  if (auto found = at_hand(file)) {
    go_through(*std::move(found), file.place());
  } else {
    play_.sourced.push_back(file);
  }
}

void Player::export_names(const Command& command) {
  const bool is_export = !command.words.empty() && command.words.front().chars == "export";
  const bool is_for_command =
      !command.words.empty() &&
      !is_one_of(command.words.front().chars, {"local", "declare", "typeset", "readonly"});
  for (const Assignment& assignment : command.assignments) {
    if (is_for_command) {
      exported_.insert(assignment.name);
    }
  }
  for (const Text& word : command.words) {
    if (is_export && end_of_name(word.chars, 0) == word.size()) {
      exported_.insert(word.chars);
    }
  }
}

/// sbatch --export=ALL,NAME=VALUE, qsub -v NAME=VALUE and docker run -e NAME=VALUE set these for
/// what they start.
void Player::export_options(std::vector<Text>::iterator first, std::vector<Text>::iterator last) {
  for (auto word = first; word != last; ++word) {
    const bool is_next =
        word != first && is_one_of(std::prev(word)->chars, {"-v", "-e", "--env", "-x"});
    std::size_t begin = word->chars.starts_with("--export=") ? word->chars.find('=') + 1 : 0;
    while (begin < word->size() && (begin > 0 || is_next)) {
      const std::size_t end = std::min(word->chars.find(',', begin), word->size());
      const std::size_t equals = word->chars.find('=', begin);
      const std::string name = word->chars.substr(begin, std::min(equals, end) - begin);
      if (equals < end && end_of_name(name, 0) == name.size()) {
        set(name, {.items = {word->part(equals + 1, end)}});
        exported_.insert(name);
      }
      begin = end + 1;
    }
  }
}

void Player::queue(std::vector<Text>::const_iterator first,
                   std::vector<Text>::const_iterator script,
                   const BatchOptions& of_script) {
  const auto sbatch =
      std::find_if(first, script, [](const Text& word) { return word.chars == "sbatch"; });
  if (sbatch == script) {
    return;
  }
  BatchOptions job;
  job.read(sbatch + 1, script);
  job.add(of_script);
  for (const auto& [name, value] : job.variables()) {
    scope_.set(name, {.items = {Text::made(value, sbatch->place())}});
    exported_.insert(name);
  }
  play_.batch.add(job);
}

bool Player::starts_script(std::vector<Text>& words) {
  const auto script = script_started(words, play_.documents);
  std::optional<FileAtHand> file;
  try {
    file = script == words.end() ? std::nullopt : at_hand(*script);
  } catch (const InputError&) {  // not of the language that is gone through here
    return false;
  }
  if (!file) {
    return false;
  }
  const bool replaces = words.front().chars == "exec";
  Scope scope = scope_;
  auto launcher = launcher_;
  std::map<std::string, Commands, std::less<>> functions;
  std::map<std::string, std::optional<Variable>> outer;
  const auto exchange = [&] {
    std::swap(scope_, scope);
    std::swap(launcher_, launcher);
    std::swap(functions_, functions);
    std::swap(outer_, outer);
  };
  std::copy_if(words.begin(), script, std::back_inserter(launcher), [](const Text& word) {
    return !is_one_of(word.chars, {"bash", "sh", "zsh", "exec", "nohup"});
  });
  exchange();
  std::erase_if(scope_.variables, [&](const auto& variable) {
    return !exports_all_ && exported_.count(variable.first) == 0;
  });
  export_options(words.begin(), script);
  queue(words.begin(), script, file->batch);
  scope_.shifted = 0;
  scope_.arguments.reset();
  if (!passes_) {
    scope_.arguments.emplace(script + 1, words.end());
  }
  go_through(*std::move(file), script->place());
  exchange();
  has_left_ = replaces;
  scope.variables.insert(of_started_.begin(), of_started_.end());
  std::swap(of_started_, scope.variables);
  return true;
}

void Player::print(const Command& command, const std::vector<Text>& words) {
  Text made;
  for (std::size_t i = 1; i < words.size() && command.documents.empty(); ++i) {
    made.append(words[i]);
    made.add(' ', words[i].place());
  }
  if (!command.documents.empty()) {
    const HereDocument& document = command.documents.back();
    made = document.expands ? expand_document(scope_, document.text) : document.text;
  }
  if (words.front().chars == "echo" && !command.writes_to.empty() && !made.empty()) {
    write(command, made);
  }
  printed_ = std::move(made);
}

bool Player::reads_commands(const Command& command, const std::vector<Text>& words) {
  const bool is_shell = is_one_of(words.front().chars, {"bash", "sh", "zsh", "sbatch"}) &&
                        std::all_of(words.begin() + 1, words.end(), [](const Text& word) {
                          return word.at(0) == '-' && word.chars != "-c";
                        });
  if (is_shell && !command.documents.empty()) {
    print(command, words);
  }
  const bool is_given = command.joint == Command::Joint::piped || !command.documents.empty();
  if (!is_shell || !is_given || !printed_) {
    return false;
  }
  const Text text = *std::exchange(printed_, std::nullopt);
  run_inside(text);
  return true;
}

/// More than there are arguments moves none.
void Player::shift(const std::vector<Text>& words) {
  const auto told =
      words.size() > 1 ? calculate(scope_, words[1].chars) : std::optional(std::int64_t{1});
  const auto by = static_cast<std::size_t>(std::clamp<std::int64_t>(told.value_or(1), 0, 1000));
  if (!scope_.arguments) {
    scope_.shifted += by;
  } else if (by <= scope_.arguments->size()) {
    scope_.arguments->erase(scope_.arguments->begin(),
                            scope_.arguments->begin() + static_cast<std::ptrdiff_t>(by));
  }
}

void Player::replace(const Text& word) {
  const char sign = word.at(1);
  if (word.at(0) != 's' || word.size() < 5 || std::isalnum(static_cast<unsigned char>(sign)) != 0) {
    return;
  }
  const std::size_t middle = word.chars.find(sign, 2);
  const std::size_t end = middle == std::string::npos ? middle : word.chars.find(sign, middle + 1);
  const std::string name = word.chars.substr(2, middle - 2);
  if (end != std::string::npos &&
      name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos) {
    play_.replaced[name] = word.part(middle + 1, end);
  }
}

void Player::call(const std::string& name, std::optional<std::vector<Text>> arguments) {
  if (++depth_ <= kDeepestCall) {
    const Commands body = functions_.at(name);
    std::map<std::string, std::optional<Variable>> outer;
    std::swap(arguments, scope_.arguments);
    std::swap(outer, outer_);
    run(body);
    std::swap(outer, outer_);
    std::swap(arguments, scope_.arguments);
    for (auto& [own, before] : outer) {
      scope_.variables.erase(own);
      if (before) {
        scope_.set(own, *std::move(before));
      }
    }
    has_returned_ = false;
  }
  --depth_;
}

void Player::run_inside(const Text& text) {
  if (++depth_ <= kDeepestCall) {
    Commands inside;
    try {
      inside = parse_script(text, scope_.source);
    } catch (const InputError&) {
      inside.clear();
    }
    run(inside);
  }
  --depth_;
}

}  // namespace titer::shell
