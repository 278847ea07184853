#include "shell_play.hpp"

#include "shell_branches.hpp"
#include "shell_player.hpp"

namespace titer::shell {
namespace {

constexpr std::size_t kMostWords = 1'000'000;

/// A script, or a configuration of one.
bool names_a_file(const Text& word) {
  const std::size_t dot = word.chars.rfind('.');
  return dot != std::string::npos && dot > 0 && word.chars.find(' ') == std::string::npos &&
         is_one_of(std::string_view(word.chars).substr(dot),
                   {".sh", ".py", ".yaml", ".yml", ".toml", ".json", ".slurm", ".sbatch"});
}

}  // namespace

Player::Player(const std::string& source,
               const std::map<std::string, std::string, std::less<>>& initial,
               const std::map<std::string, std::string, std::less<>>& defines,
               const FindSourced& find_sourced)
    : find_sourced_(find_sourced) {
  scope_.source = source;
  play_.sources = {source};
  scope_.defines = &defines;
  for (const auto& [name, value] : initial) {
    exported_.insert(name);
    scope_.set(name, {.items = {Text::made(value, {.source = 0, .line = 1, .column = 1})}});
  }
}

Play Player::all(const Text& script) {
  const Commands commands = parse_script(script, scope_.source);
  run(commands);
  has_left_ = false;
  if (play_.commands.empty()) {
    const std::map<std::string, Commands, std::less<>> never_called = functions_;
    for (const auto& [name, body] : never_called) {
      call(name, std::vector<Text>{});
    }
  }
  play_.variables = std::move(scope_.variables);
  for (auto& [name, variable] : of_started_) {
    if (play_.variables.count(name) == 0 || variable.depends_on) {
      play_.variables[name] = std::move(variable);
    }
  }
  return std::move(play_);
}

void Player::set(const std::string& name, Variable value) {
  if (exports_all_) {
    exported_.insert(name);
  }
  if (scope_.find(name) == nullptr) {
    play_.order.push_back(name);
  }
  scope_.set(name, std::move(value));
}

void Player::assign(const Assignment& assignment) {
  Variable made{.items = {}, .is_array = assignment.is_array};
  for (const Text& value : assignment.values) {
    if (!assignment.is_array) {
      made.items.push_back(expand_text(scope_, value));
      continue;
    }
    std::vector<Text> more = expand_words(scope_, value);
    made.items.insert(made.items.end(), more.begin(), more.end());
  }
  const Variable* const before = scope_.find(assignment.name);
  if (assignment.appends && before != nullptr) {
    made = appended(*before, std::move(made));
  }
  check(made.items);
  set(assignment.name, std::move(made));
}

Variable Player::appended(const Variable& before, Variable more) {
  if (before.depends_on) {
    Variable whole = before;
    add_flags(&more, whole.flags);
    return whole;
  }
  if (more.is_array) {
    more.items.insert(more.items.begin(), before.items.begin(), before.items.end());
    return more;
  }
  // Of an array it is the first that a text is appended to.
  Variable whole = before;
  if (whole.items.empty()) {
    whole.items.emplace_back();
  }
  whole.items.front().append(more.items.front());
  return whole;
}

void Player::check(const std::vector<Text>& items) const {
  std::size_t characters = 0;
  for (const Text& item : items) {
    characters += item.size();
  }
  if (items.size() > kMostWords || characters > kMostWords) {
    refuse(
        scope_.source, items.front().place(), "comes to more than 1 MiB; expected a configuration");
  }
}

void Player::documents(const Command& command) {
  const bool is_read = !command.words.empty() && command.words.front().chars == "read";
  const std::string name = is_read ? command.words.back().chars : "";
  if (!name.empty() && !command.documents.empty() && end_of_name(name, 0) == name.size()) {
    const HereDocument& document = command.documents.back();
    set(name,
        {.items = {document.expands ? expand_document(scope_, document.text) : document.text}});
  }
  if (command.documents.empty() || command.writes_to.empty()) {
    return;
  }
  const HereDocument& document = command.documents.back();
  play_.documents[expand_text(scope_, command.writes_to).chars] =
      document.expands ? expand_document(scope_, document.text) : document.text;
}

std::vector<Text> Player::words_of(const Command& command) {
  std::vector<Text> words;
  for (const Text& word : command.words) {
    std::vector<Text> more = expand_words(scope_, word);
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

std::vector<Text> Player::words_run(const Command& command) {
  std::vector<Text> words;
  for (const Text& word : command.words) {
    std::vector<Text> more = expand_words(scope_, word);
    const bool is_value = word.at(0) == '$';
    const bool ends = is_value && end_command(more);
    words.insert(words.end(), more.begin(), more.end());
    if (ends) {
      break;
    }
  }
  return words;
}

std::optional<Origin> Player::passes_arguments(const Command& command) const {
  const auto found = std::ranges::find_if(command.words, [](const Text& word) {
    return is_one_of(word.chars,
                     {"$@",
                      "$*",
                      "${@}",
                      "${*}",
                      "\"$@\"",
                      "\"$*\"",
                      "\"${@}\"",
                      "\"${*}\"",
                      "${@:1}",
                      "\"${@:1}\""});
  });
  const bool has = !scope_.arguments && found != command.words.end();
  return has ? std::optional(found->place()) : std::nullopt;
}

void Player::keep(const std::string& name) {
  const Variable* const found = scope_.find(name);
  outer_.emplace(name, found == nullptr ? std::nullopt : std::optional(*found));
}

void Player::declare(const Command& command) {
  const bool is_own = scope_.arguments && !command.words.empty() &&
                      is_one_of(command.words.front().chars, {"local", "declare", "typeset"});
  if (!is_own) {
    return;
  }
  for (const Assignment& assignment : command.assignments) {
    keep(assignment.name);
  }
  for (const Text& word : command.words) {
    if (&word != &command.words.front() && end_of_name(word.chars, 0) == word.size()) {
      keep(word.chars);
      scope_.variables.erase(word.chars);
    }
  }
}

Verdict Player::simple(const Command& command) {
  if (is_test(command.words)) {
    const bool counts = command.words.size() == 2 && command.words.front().chars == "((";
    return counts && count(command.words.back().chars)
               ? Verdict{.kind = Verdict::Kind::yes, .question = {}}
               : judge(scope_, command.words, command.at);
  }
  declare(command);
  export_names(command);
  const bool is_set_for_it = sets_for_itself(command);
  Variables before = is_set_for_it ? of_devices() : Variables();
  for (const Assignment& assignment : command.assignments) {
    assign(assignment);
  }
  documents(command);
  run_words(command);
  if (is_set_for_it) {
    restore(std::move(before));
  }
  return {.kind = Verdict::Kind::yes, .is_guess = true, .question = {}};
}

void Player::run_words(const Command& command) {
  if (!command.words.empty() && command.words.front().chars == "eval") {
    evaluate(command);
  } else if (std::vector<Text> words = words_run(command); !words.empty()) {
    passes_ = passes_arguments(command);
    if (!reads_commands(command, words)) {
      printed_.reset();
      if (is_one_of(words.front().chars, {"echo", "printf", "cat"})) {
        print(command, words);
      }
      execute(std::move(words));
    }
  }
}

void Player::evaluate(const Command& command) {
  passes_ = passes_arguments(command);
  Text whole;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    whole.append(expand_command(scope_, command.words[i]));
    whole.add(' ', command.words[i].place());
  }
  run_inside(whole);
}

/// layers[7B]=32, which sets one item of an array.
bool Player::sets_element(const Text& word) {
  const std::size_t open = end_of_name(word.chars, 0);
  const std::size_t close = word.chars.find("]=", open);
  if (open == 0 || word.at(open) != '[' || close == std::string::npos) {
    return false;
  }
  const std::string name = word.chars.substr(0, open);
  const Variable* const before = scope_.find(name);
  Variable made = before == nullptr ? Variable{.items = {}, .is_array = true} : *before;
  const auto place = calculate(scope_, word.chars.substr(open + 1, close - open - 1));
  const bool is_among = place && *place >= 0 &&
                        *place < static_cast<std::int64_t>(made.items.size()) && !has_names(made);
  made.is_array = true;
  if (is_among) {
    made.items[static_cast<std::size_t>(*place)] = word.part(close + 2, word.size());
  } else if (place == static_cast<std::int64_t>(made.items.size()) && !has_names(made)) {
    made.items.push_back(word.part(close + 2, word.size()));
  } else if (made.items.empty() || has_names(made)) {
    made.items.push_back(word.part(open, word.size()));
  } else {
    return false;
  }
  set(name, std::move(made));
  return true;
}

void Player::execute(std::vector<Text> words) {
  const std::string head = words.front().chars;
  if (words.size() == 1 && sets_element(words.front())) {
    return;
  }
  if (is_one_of(head, {"echo", "printf", "cat", "log", "info", "print", "grep", "awk"}) ||
      builtin(head, words)) {
    return;
  }
  if (head == "sed") {
    std::ranges::for_each(words, [&](const Text& word) { replace(word); });
  } else if (functions_.count(head) > 0) {
    words.erase(words.begin());
    call(head, passes_ ? std::nullopt : std::optional(std::move(words)));
  } else if (!starts_script(words)) {
    note(std::move(words));
  }
}

void Player::note(std::vector<Text> words) {
  Text folder;  // that GPT-NeoX's launcher has its files in
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && is_one_of(words[i - 1].chars, {"-d", "--conf_dir"})) {
      folder = words[i];
      folder.add('/', words[i].place());
    } else if (names_a_file(words[i])) {
      Text file = words[i].chars.ends_with(".py") ? Text() : folder;
      file.append(words[i]);
      play_.started.push_back(std::move(file));
    }
  }
  export_options(words.begin(), words.end());
  std::vector<Text> made = launcher_;
  bool has_any = false;
  const bool names_file = !play_.started.empty();
  bool is_commands = false;
  for (Text& word : words) {
    has_any = has_any || has_flags(word) || (names_file && override_of(word).has_value());
    const bool is_next = is_one_of(word.chars, {"-c", "-lc", "-cl", "-ic", "-xc"});
    note_word(std::move(word), is_commands, made);
    is_commands = is_next;
  }
  words_ += made.size();
  if (words_ > kMostWords) {
    refuse(scope_.source, made.front().place(), "runs commands of more than a million words");
  }
  if (has_any || !launcher_.empty()) {
    play_.commands.push_back({.words = std::move(made),
                              .if_only = if_only_,
                              .passes = passes_,
                              .environment = of_devices()});
  }
}

void Player::note_word(Text word, bool is_commands, std::vector<Text>& made) {
  // Options in one word, as a script is handed them: what is a line to a shell is a blank to it.
  const std::size_t begin = word.chars.find_first_not_of(" \t\n");
  if (begin != std::string::npos && begin > 0 && word.chars.compare(begin, 2, "--") == 0) {
    word = word.part(begin, word.size());
  }
  const std::size_t blank = word.chars.find_first_of(" \t\n");
  const bool is_text = blank != std::string::npos && (is_commands || has_flags(word));
  const bool is_flag = word.chars.starts_with("--");
  const std::size_t equals = word.chars.find('=');
  if (is_text && is_flag && equals > blank) {
    std::vector<Text> parts = split_words(word);
    end_command(parts);
    made.insert(made.end(), parts.begin(), parts.end());
  } else if (is_text && !word.chars.starts_with('{')) {
    std::vector<Text> outer = made;
    std::swap(outer, launcher_);
    run_inside(word.part(is_flag ? equals + 1 : 0, word.size()));
    std::swap(outer, launcher_);
  } else {
    made.push_back(std::move(word));
  }
}

Play play_script(const Text& script,
                 const std::string& source,
                 const std::map<std::string, std::string, std::less<>>& initial,
                 const std::map<std::string, std::string, std::less<>>& defines,
                 const FindSourced& find_sourced) {
  return Player(source, initial, defines, find_sourced).all(script);
}

}  // namespace titer::shell
