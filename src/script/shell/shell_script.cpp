#include "shell_script.hpp"

#include <algorithm>
#include <array>

#include "shell_tokens.hpp"
#include "titer/units/lists.hpp"

namespace titer::shell {
namespace {

class Parser {
 public:
  Parser(const Text& text, const std::string& source) : tokens_(text, source) {}

  Commands all() {
    Commands commands;
    while (tokens_.peek().kind != Token::Kind::end) {
      Commands more = list();
      std::move(more.begin(), more.end(), std::back_inserter(commands));
      if (tokens_.peek().kind != Token::Kind::end) {
        static_cast<void>(tokens_.take());  // closes nothing
      }
    }
    return commands;
  }

 private:
  using Kind = Command::Kind;
  using Joint = Command::Joint;

  [[nodiscard]] bool ends_list() {
    constexpr std::array<std::string_view, 10> ends = {
        "then", "elif", "else", "fi", "do", "done", "esac", "}", ")", ";;"};
    return tokens_.peek().kind == Token::Kind::end || tokens_.sees(";;&") ||
           includes(ends, tokens_.peek().text.chars);
  }

  void go_deeper() {
    if (++depth_ > kDeepestScript) {
      tokens_.refuse_here("nested deeper than " + std::to_string(kDeepestScript) + " levels");
    }
  }

  /// After a sign; a new line leaves what came before it: a && at the end of one.
  static Joint joint_of(std::string_view sign, Joint before) {
    if (sign == "\n") {
      return before;
    }
    if (sign == "&&") {
      return Joint::and_then;
    }
    if (sign == "||") {
      return Joint::or_else;
    }
    return sign == "|" ? Joint::piped : Joint::next;
  }

  Commands list() {
    Commands commands;
    Joint joint = Joint::next;
    go_deeper();
    while (!ends_list()) {
      if (tokens_.peek().kind == Token::Kind::sign && !tokens_.sees("(") && !is_redirection()) {
        joint = joint_of(tokens_.take().text.chars, joint);
        continue;
      }
      const Origin at = tokens_.peek().text.place();
      Command made = command();
      made.joint = joint;
      made.at = at;
      joint = Joint::next;
      commands.push_back(std::move(made));
    }
    --depth_;
    return commands;
  }

  [[nodiscard]] bool is_redirection() {
    const std::string& sign = tokens_.peek().text.chars;
    return tokens_.peek().kind == Token::Kind::sign &&
           sign.find_first_of("<>") != std::string::npos;
  }

  Command command() {
    if (tokens_.accept("if")) {
      return conditional();
    }
    if (tokens_.accept("case")) {
      return choice();
    }
    if (tokens_.accept("for") || tokens_.accept("select")) {
      return list_loop();
    }
    if (tokens_.sees("while") || tokens_.sees("until")) {
      return condition_loop();
    }
    if (tokens_.sees("{") || tokens_.sees("(")) {
      return group();
    }
    if (tokens_.accept("function")) {
      Command made{.kind = Kind::function, .name = tokens_.take().text.chars};
      return function(std::move(made));
    }
    return simple();
  }

  Command conditional() {
    Command made{.kind = Kind::conditional};
    bool has_condition = true;
    do {
      Branch branch;
      if (has_condition) {
        branch.condition = list();
        tokens_.accept("then");
      }
      branch.body = list();
      made.branches.push_back(std::move(branch));
      if (tokens_.accept("elif")) {
        continue;
      }
      has_condition = false;
    } while (has_condition || tokens_.accept("else"));
    tokens_.accept("fi");
    return made;
  }

  Command choice() {
    Command made{.kind = Kind::choice};
    made.words.push_back(tokens_.take().text);
    skip_lines();
    tokens_.accept("in");
    skip_lines();
    while (tokens_.peek().kind != Token::Kind::end && !tokens_.sees("esac")) {
      Branch branch;
      tokens_.accept("(");
      while (tokens_.peek().kind != Token::Kind::end && !tokens_.accept(")")) {
        if (tokens_.peek().kind == Token::Kind::word) {
          branch.patterns.push_back(tokens_.take().text);
        } else {
          static_cast<void>(tokens_.take());  // "|"
        }
      }
      branch.body = list();
      made.branches.push_back(std::move(branch));
      while (tokens_.accept(";;") || tokens_.accept(";;&") || tokens_.accept("\n")) {
      }
    }
    tokens_.accept("esac");
    return made;
  }

  void skip_lines() {
    while (tokens_.accept("\n")) {
    }
  }

  Command condition_loop() {
    Command made{.kind = Kind::loop, .name = tokens_.take().text.chars};
    made.branches.push_back({.condition = list(), .patterns = {}, .body = {}});
    tokens_.accept("do");
    made.body = list();
    tokens_.accept("done");
    return made;
  }

  Command list_loop() {
    Command made{.kind = Kind::list};
    if (tokens_.accept("(")) {
      tokens_.skip_character();
      made = counting_loop(tokens_.arithmetic());
    } else {
      made.name = tokens_.take().text.chars;
      skip_lines();
      if (tokens_.accept("in")) {
        while (tokens_.peek().kind == Token::Kind::word) {
          made.words.push_back(tokens_.take().text);
        }
      } else {
        made.words.push_back(Text::made("\"$@\"", made.at));
      }
    }
    while (tokens_.accept(";") || tokens_.accept("\n")) {
    }
    tokens_.accept("do");
    made.body = list();
    tokens_.accept("done");
    return made;
  }

  /// for (( i = 0; i < n; i++ )): the first part as its words, the last as its assignment.
  static Command counting_loop(const Text& parts) {
    const std::size_t first = std::min(parts.chars.find(';'), parts.size());
    const std::size_t second = std::min(parts.chars.find(';', first + 1), parts.size());
    const auto in_parentheses = [](Text part) {
      return std::vector<Text>{Text::made("((", {}), std::move(part), Text::made("))", {})};
    };
    Command made{.kind = Kind::loop, .name = "for"};
    made.words = in_parentheses(parts);
    made.counts = {parts.part(0, first), parts.part(second + 1, parts.size())};
    Command condition{.at = parts.place()};
    condition.words = {Text::made("((", {}), parts.part(first + 1, second)};
    made.branches.push_back({.condition = {std::move(condition)}, .patterns = {}, .body = {}});
    return made;
  }

  Command group() {
    if (tokens_.accept("(") && tokens_.at_second_parenthesis()) {
      tokens_.skip_character();
      return {.words = {Text::made("((", {}), tokens_.arithmetic()}};
    }
    Command made{.kind = Kind::group};
    tokens_.accept("{");
    made.body = list();
    if (!tokens_.accept("}")) {
      tokens_.accept(")");
    }
    redirections(made);
    return made;
  }

  Command function(Command made) {
    tokens_.accept("(");
    tokens_.accept(")");
    skip_lines();
    go_deeper();
    made.body = command().body;
    --depth_;
    return made;
  }

  /// Where output goes and documents that are read; true if there was one.
  bool redirections(Command& into) {
    bool any = false;
    while (is_redirection()) {
      any = true;
      const std::string sign = tokens_.take().text.chars;
      if (tokens_.peek().kind != Token::Kind::word) {
        continue;
      }
      const Text target = tokens_.take().text;
      if (sign == "<<" || sign == "<<-") {
        tokens_.expect_document(target, into.documents);
      } else if (sign.front() == '>' && sign != ">&") {
        into.writes_to = target;
        into.appends = sign == ">>";
      }
    }
    return any;
  }

  Command simple() {
    Command made;
    while (redirections(made) || tokens_.peek().kind == Token::Kind::word) {
      if (tokens_.peek().kind != Token::Kind::word) {
        continue;
      }
      Text word = tokens_.take().text;
      if (takes_assignments(made) && assignment(word, made)) {
        continue;
      }
      if (made.words.empty() && tokens_.accept("(")) {
        return function({.kind = Kind::function, .name = word.chars});
      }
      made.words.push_back(std::move(word));
      if (made.words.size() == 1 && made.words.front().chars == "[[") {
        take_test(made.words);
      }
    }
    return made;
  }

  /// In [[ … ]] signs are words.
  void take_test(std::vector<Text>& words) {
    while (tokens_.peek().kind != Token::Kind::end && words.back().chars != "]]") {
      words.push_back(tokens_.take().text);
    }
  }

  static bool takes_assignments(const Command& command) {
    constexpr std::array<std::string_view, 6> declare = {
        "export", "declare", "local", "readonly", "typeset", "env"};
    return command.words.empty() || includes(declare, command.words.front().chars);
  }

  bool assignment(const Text& word, Command& into) {
    const std::size_t end = end_of_name(word.chars, 0);
    const bool appends = word.chars.compare(end, 2, "+=") == 0;
    if (end == 0 || (!appends && word.at(end) != '=')) {
      return false;
    }
    const std::size_t begin = end + (appends ? 2 : 1);
    Assignment made{.name = word.chars.substr(0, end), .appends = appends, .values = {}};
    if (begin == word.size()) {
      if (auto items = tokens_.array()) {
        made.is_array = true;
        made.values = *std::move(items);
        into.assignments.push_back(std::move(made));
        return true;
      }
    }
    made.values.push_back(word.part(begin, word.size()));
    into.assignments.push_back(std::move(made));
    return true;
  }

  Tokens tokens_;
  int depth_ = 0;
};

}  // namespace

Commands parse_script(const Text& text, const std::string& source) {
  return Parser(text, source).all();
}

}  // namespace titer::shell
