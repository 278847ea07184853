// Control flow of a script: conditions, choices, loops.

#include "shell_branches.hpp"
#include "shell_player.hpp"
#include "titer/units/lists.hpp"

namespace titer::shell {
namespace {

constexpr int kMostSteps = 100'000;
constexpr std::size_t kMostTurns = 64;  // of a loop

using Joint = Command::Joint;

bool ends_script(const Commands& body);

/// Says what is missing and stops: "exit 1", "{ echo …; exit 1; }".
bool stops_script(const Command& command) {
  return command.kind == Command::Kind::group
             ? ends_script(command.body)
             : !command.words.empty() && is_one_of(command.words.front().chars, {"exit", "return"});
}

bool ends_script(const Commands& body) { return !body.empty() && stops_script(body.back()); }

void add_words(const std::vector<Text>& words, std::string& to) {
  for (const Text& word : words) {
    to.append(to.empty() ? "" : " ").append(word.chars);
  }
}

/// "while [[ $# -gt 0 ]]", "for x in $(ls)", "for (( … ))".
std::string head_of(const Command& loop) {
  std::string head = loop.kind == Command::Kind::list ? "for " + loop.name + " in" : loop.name;
  add_words(loop.words, head);
  if (loop.words.empty() && !loop.branches.empty() && !loop.branches.front().condition.empty()) {
    add_words(loop.branches.front().condition.front().words, head);
  }
  return head;
}

}  // namespace

Verdict Player::run(const Commands& commands) {
  Verdict last{.kind = Verdict::Kind::yes, .question = {}};
  for (const Command& command : commands) {
    if (stops()) {
      break;
    }
    const bool on_success = command.joint == Joint::and_then;
    if (!on_success && command.joint != Joint::or_else) {
      last = run(command);
    } else if (last.kind == Verdict::Kind::open) {
      run_if(last.question, command);
    } else if ((last.kind == Verdict::Kind::yes) == on_success) {
      const bool only_stops = last.is_guess && (stops_script(command) || calls_exit(command));
      last = only_stops ? last : run(command);
    }
  }
  return last;
}

/// "die", a function that ends with an exit.
bool Player::calls_exit(const Command& command) const {
  if (command.kind != Command::Kind::simple || command.words.empty()) {
    return false;
  }
  const auto called = functions_.find(command.words.front().chars);
  if (called == functions_.end() || called->second.empty()) {
    return false;
  }
  const std::vector<Text>& last = called->second.back().words;
  return !last.empty() && last.front().chars == "exit";
}

void Player::run_if(const Question& question, const Command& command) {
  Commands one = {command};
  one.front().joint = Joint::next;
  fork({&one, nullptr}, question);
}

Verdict Player::run(const Command& command) {
  if (++steps_ > kMostSteps) {
    refuse(scope_.source, command.at, "takes more than 100000 steps; expected a configuration");
  }
  switch (command.kind) {
    case Command::Kind::simple:
      return simple(command);
    case Command::Kind::conditional:
      conditional(command);
      break;
    case Command::Kind::choice:
      choose(command);
      break;
    case Command::Kind::list:
      go_over(command);
      break;
    case Command::Kind::loop:
      if (!turn(command)) {
        turn_once(command);
      }
      break;
    case Command::Kind::group:
      documents(command);
      return run(command.body);
    case Command::Kind::function:
      functions_[command.name] = command.body;
      break;
  }
  return {.kind = Verdict::Kind::yes, .question = {}};
}

void Player::fork(const std::vector<const Commands*>& bodies, const Question& question) {
  const Scope before = scope_;
  std::vector<Variables> ends;
  const std::optional<Question> outer = if_only_;
  for (const Commands* body : bodies) {
    scope_ = before;
    if_only_ = question;
    if (body != nullptr) {
      run(*body);
    }
    if (!has_left_ && !has_returned_) {
      ends.push_back(std::move(scope_.variables));
    }
    has_left_ = false;
    has_returned_ = false;
    ends_turn_ = false;
    ends_loop_ = false;
  }
  if_only_ = outer;
  scope_ = before;
  if (!ends.empty()) {
    scope_.variables = joined(ends, question);
  }
}

Verdict Player::condition(const Commands& commands) {
  Verdict verdict{.kind = Verdict::Kind::yes, .question = {}};
  for (const Command& command : commands) {
    const Verdict one = command.kind == Command::Kind::simple ? judged(command) : Verdict{};
    const bool is_joined = command.joint == Joint::and_then || command.joint == Joint::or_else;
    const auto settles = command.joint == Joint::and_then ? Verdict::Kind::no : Verdict::Kind::yes;
    const bool is_settled = verdict.kind == settles;
    const bool stays_open = verdict.kind == Verdict::Kind::open && one.kind != settles;
    if (!is_joined || (!is_settled && !stays_open)) {
      verdict = one;
    }
  }
  return verdict;
}

Verdict Player::judged(const Command& command) {
  if (is_test(command.words)) {
    return judge(scope_, command.words, command.at);
  }
  if (command.words.empty()) {
    return simple(command);
  }
  const std::vector<Text> words = words_of(command);
  Verdict verdict;
  if (words.size() == 1 && is_one_of(words.front().chars, {"true", ":", "false"})) {
    verdict.kind = words.front().chars == "false" ? Verdict::Kind::no : Verdict::Kind::yes;
  }
  verdict.question.at = command.at;
  add_words(command.words, verdict.question.condition);
  const std::string& first = command.words.front().chars;
  if (command.words.size() == 1 && first.starts_with('$')) {
    verdict.question.variable = first.substr(first.find_first_not_of("${\""));
    verdict.question.variable.resize(end_of_name(verdict.question.variable, 0));
    verdict.question.answers = {"true", "false"};
  }
  return verdict;
}

void Player::ask(Open& open, const Question& question) {
  if (!open.question) {
    open.question = question;
  } else if (open.question->variable == question.variable) {
    for (const std::string& answer : question.answers) {
      std::vector<std::string>& known = open.question->answers;
      if (!includes(known, answer)) {
        known.push_back(answer);
      }
    }
  }
}

void Player::add_branch(const Branch& branch, Open& open) {
  Verdict verdict{.kind = Verdict::Kind::yes, .question = {}};
  if (!branch.condition.empty()) {
    verdict = condition(branch.condition);
  }
  const bool is_open = verdict.kind == Verdict::Kind::open;
  const bool nobody_tells = is_open && verdict.question.variable.empty();
  const bool is_file = verdict.kind == Verdict::Kind::no && verdict.is_guess;
  if ((nobody_tells || is_file) && writes_flags(branch.body) && !ends_script(branch.body)) {
    play_.taken_as_false.push_back(verdict.question);
  }
  const bool is_guess = verdict.is_guess || asks_of(branch.condition, play_.passed_over);
  const bool only_stops = !is_open && is_guess && ends_script(branch.body);
  if (nobody_tells && open.taken_as_false == nullptr) {
    open.taken_as_false = &branch.body;
  }
  if (nobody_tells || verdict.kind == Verdict::Kind::no || only_stops) {
    return;
  }
  open.bodies.push_back(&branch.body);
  open.is_settled = !is_open;
  if (is_open) {
    ask(open, verdict.question);
  }
}

void Player::conditional(const Command& command) {
  Open open;
  for (const Branch& branch : command.branches) {
    if (!open.is_settled) {
      add_branch(branch, open);
    }
  }
  const std::optional<Scope> before =
      open.taken_as_false == nullptr ? std::nullopt : std::optional(scope_);
  follow(open);
  if (before && has_left_) {  // a run goes another way than to the script's end
    scope_ = *before;
    has_left_ = false;
    run(*open.taken_as_false);
  }
}

void Player::choose(const Command& command) {
  Open open;
  Question question{.at = command.at, .condition = "case " + command.words.front().chars};
  const std::string& word = command.words.front().chars;
  const std::size_t begin = std::min(word.find_first_not_of("\"${"), word.size());
  question.variable = word.substr(begin);
  question.variable.resize(
      std::min(question.variable.find_first_of("}\":,^%#/"), question.variable.size()));
  for (const Branch& branch : command.branches) {
    Verdict::Kind kind = Verdict::Kind::no;
    for (const Text& pattern : branch.patterns) {
      const Verdict::Kind one = matches(scope_, command.words.front(), pattern);
      kind = kind == Verdict::Kind::yes || one == Verdict::Kind::no ? kind : one;
      if (pattern.chars.find('*') == std::string::npos) {
        question.answers.push_back(expand_text(scope_, pattern).chars);
      }
    }
    if (kind != Verdict::Kind::no) {
      open.bodies.push_back(&branch.body);
      open.is_settled = kind == Verdict::Kind::yes;
    }
    if (open.is_settled) {
      break;
    }
  }
  open.question = question;
  follow(open);
}

void Player::follow(Open& open) {
  if (!open.is_settled) {
    open.bodies.push_back(nullptr);
  }
  if (open.bodies.size() > 1) {
    fork(open.bodies, *open.question);
  } else if (open.bodies.front() != nullptr) {
    run(*open.bodies.front());
  }
}

bool Player::run_turn(const Commands& body) {
  run(body);
  const bool goes_on = !ends_loop_ && !has_left_ && !has_returned_;
  ends_turn_ = false;
  ends_loop_ = false;
  return goes_on;
}

bool Player::count(std::string_view list) {
  const auto values = counted(scope_, list);
  for (const Counted& one : values.value_or(std::vector<Counted>{})) {
    set(one.name, {.items = {Text::made(std::to_string(one.value), {.source = 0, .line = 1})}});
  }
  return values.has_value();
}

bool Player::turn(const Command& loop) {
  const Scope before = scope_;
  const std::size_t commands = play_.commands.size();
  if (!loop.counts.empty() && !count(loop.counts.front().chars)) {
    return false;
  }
  const auto goes_on = loop.name == "until" ? Verdict::Kind::no : Verdict::Kind::yes;
  for (std::size_t turns = 0; turns < kMostTurns; ++turns) {
    const Verdict verdict = condition(loop.branches.front().condition);
    if (verdict.kind == Verdict::Kind::open || verdict.is_guess) {
      break;
    }
    if (verdict.kind != goes_on || !run_turn(loop.body)) {
      return true;
    }
    if (!loop.counts.empty() && !count(loop.counts.back().chars)) {
      break;
    }
  }
  scope_ = before;
  play_.commands.resize(commands);
  return false;
}

void Player::turn_once(const Command& loop) {
  const Scope before = scope_;
  run_turn(loop.body);
  has_left_ = false;
  has_returned_ = false;
  std::vector<std::string> names = names_set(before.variables, scope_.variables);
  names.erase(std::remove_if(names.begin(),
                             names.end(),
                             [&](const auto& name) { return scope_.defined(name) != nullptr; }),
              names.end());
  if (!names.empty()) {
    play_.passed_over.push_back(
        {.at = loop.at, .loop = head_of(loop), .variables = std::move(names)});
  }
  scope_ = before;
}

void Player::go_over(const Command& command) {
  const std::vector<Text> items = words_of(command);
  const bool is_known =
      !passes_arguments(command) &&
      std::ranges::none_of(items, [](const Text& item) { return is_open(item.chars); });
  if (!is_known || items.size() > kMostTurns) {
    scope_.variables.erase(command.name);
    turn_once(command);
    return;
  }
  for (const Text& item : items) {
    set(command.name, {.items = {item}});
    if (!run_turn(command.body)) {
      return;
    }
  }
}

}  // namespace titer::shell
