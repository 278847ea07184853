#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "titer/import/foreign_text.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestArguments = std::size_t{1} << 20U;  // bytes of a configuration

/// One past the name of a variable that begins here; here, if none does.
std::size_t end_of_name(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_of_name(text[end])) {
    ++end;
  }
  return end == from || std::isdigit(static_cast<unsigned char>(text[from])) != 0 ? from : end;
}

struct Word {
  std::string text;
  Origin origin;
  bool ends_command = false;  // no word, but the end of a command
  bool quoted = false;        // all of it
};

/// Splits shell text into words: comments left out, quotes taken away, lines continued.
class Words {
 public:
  Words(std::string_view text, Origin begin, const std::string& source)
      : text_(text), at_(begin), source_(source) {}

  std::vector<Word> all() {
    while (next_ < text_.size()) {
      take();
    }
    if (open_parentheses_ > 0) {
      refuse(parenthesis_, "this parenthesis is not closed");
    }
    end_command();
    return std::move(words_);
  }

 private:
  [[noreturn]] void refuse(Origin at, const std::string& message) const {
    throw InputError(source_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": " + message);
  }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return next_ + ahead < text_.size() ? text_[next_ + ahead] : '\0';
  }
  char skip() {
    const char c = text_[next_++];
    ++at_.column;
    if (c == '\n') {
      ++at_.line;
      at_.column = 1;
    }
    return c;
  }
  [[nodiscard]] bool continues() const {
    return peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'));
  }
  void end_command() { words_.push_back({.text = {}, .origin = at_, .ends_command = true}); }

  void take() {
    const char c = peek();
    if (continues()) {
      while (skip() != '\n') {
      }
    } else if (c == '#') {
      skip_comment();
    } else if (c == '(' || c == ')') {
      parenthesis(c);
    } else if (std::string_view("\n;|&<>").find(c) != std::string_view::npos) {
      skip();
      if (c != '\n' || open_parentheses_ == 0) {
        end_command();
      }
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      skip();
    } else {
      words_.push_back(word());
    }
  }

  void skip_comment() {
    while (next_ < text_.size() && peek() != '\n') {
      skip();
    }
  }

  /// An array in parentheses ends at the closing one, not at the end of a line.
  void parenthesis(char c) {
    parenthesis_ = c == '(' && open_parentheses_ == 0 ? at_ : parenthesis_;
    open_parentheses_ = std::max(0, open_parentheses_ + (c == '(' ? 1 : -1));
    skip();
    end_command();
  }

  [[nodiscard]] bool ends_word(char c) const {
    return std::isspace(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("();|&<>").find(c) != std::string_view::npos;
  }

  Word word() {
    Word made{.text = {}, .origin = at_, .quoted = peek() == '"' || peek() == '\''};
    while (next_ < text_.size() && !ends_word(peek()) && !continues()) {
      const char c = peek();
      if (c == '"' || c == '\'') {
        quoted(c, made.text);
      } else if (c == '\\') {
        escaped(made.text);
      } else if (c == '$' && (peek(1) == '{' || peek(1) == '(')) {
        bracketed(made.text);
      } else {
        made.text += skip();
      }
    }
    return made;
  }

  void escaped(std::string& into) {
    skip();
    if (next_ < text_.size()) {
      into += skip();
    }
  }

  void quoted(char quote, std::string& into) {
    const Origin begin = at_;
    skip();
    while (peek() != quote) {
      if (next_ >= text_.size()) {
        refuse(begin, "this quote is not closed");
      }
      const bool escapes = quote == '"' && peek() == '\\' && (peek(1) == '"' || peek(1) == '\\');
      if (escapes) {
        skip();
      }
      into += skip();
    }
    skip();
  }

  /// ${…} and $(…) are kept as written, blanks inside them too.
  void bracketed(std::string& into) {
    const Origin begin = at_;
    int depth = 0;
    into += skip();
    do {
      if (next_ >= text_.size()) {
        refuse(begin, "this bracket is not closed");
      }
      const char c = skip();
      depth += c == '{' || c == '(' ? 1 : (c == '}' || c == ')' ? -1 : 0);
      into += c;
    } while (depth > 0);
  }

  std::string_view text_;
  std::size_t next_ = 0;
  Origin at_;
  const std::string& source_;
  int open_parentheses_ = 0;
  Origin parenthesis_{};
  std::vector<Word> words_;
};

bool is_flag(const Word& word) {
  return word.text.size() > 2 && word.text.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(word.text[2])) != 0;
}

bool is_script(const Word& word) { return word.text.ends_with(".py"); }

class Flags {
 public:
  explicit Flags(const std::string& source) : source_(source) {
    into_.flags.root = Value::make_object();
    into_.flags.root.origin = {.source = 0, .line = 1, .column = 1};
    into_.flags.sources = {source};
  }

  void add(std::string_view text, Origin begin) {
    const std::vector<Word> words = split_quoted(without_prints(Words(text, begin, source_).all()));
    for (std::size_t i = 0; i < words.size();) {
      i = is_flag(words[i]) ? add_flag(words, i) : add_variable(words, i);
    }
  }
  ArgumentText finish() { return std::move(into_); }

 private:
  /// What echo and printf print is no command line.
  static std::vector<Word> without_prints(const std::vector<Word>& words) {
    constexpr std::array<std::string_view, 5> before_commands = {"then", "else", "do", "{", "&&"};
    std::vector<Word> kept;
    bool begins_command = true;
    bool prints = false;
    for (const Word& word : words) {
      prints = !word.ends_command &&
               (prints || (begins_command && (word.text == "echo" || word.text == "printf")));
      begins_command =
          word.ends_command ||
          (begins_command && std::find(before_commands.begin(), before_commands.end(), word.text) !=
                                 before_commands.end());
      if (!prints) {
        kept.push_back(word);
      }
    }
    return kept;
  }

  /// An element "--fp8-format hybrid" of an array becomes two words where the shell expands the
  /// array without quotes; a quoted command line becomes a command of its own.
  [[nodiscard]] std::vector<Word> split_quoted(const std::vector<Word>& words) const {
    std::vector<Word> all;
    for (const Word& word : words) {
      if (!word.quoted || word.text.find_first_of(" \t\n") == std::string::npos) {
        all.push_back(word);
        continue;
      }
      const std::vector<Word> inside = inner_words(word);
      const auto flag = std::find_if(inside.begin(), inside.end(), is_flag);
      if (flag == inside.end()) {
        all.push_back(word);
        continue;
      }
      if (flag == inside.begin()) {
        all.insert(all.end(), inside.begin(), inside.end() - 1);  // less the end of the text
      } else {
        all.push_back({.text = {}, .origin = word.origin, .ends_command = true});
        all.insert(all.end(), inside.begin(), inside.end());
      }
    }
    return all;
  }

  /// The words of a quoted text; none where it is no command line, such as "it's --done".
  [[nodiscard]] std::vector<Word> inner_words(const Word& word) const {
    try {
      return Words(word.text, word.origin, source_).all();
    } catch (const InputError&) {
      return {};
    }
  }

  /// The flag with the words up to the next flag or the end of the command.
  std::size_t add_flag(const std::vector<Word>& words, std::size_t i) {
    const Word& flag = words[i++];
    const std::size_t equals = flag.text.find('=');
    Value value = Value(true);
    if (equals != std::string::npos) {
      value = Value(flag.text.substr(equals + 1));
    }
    for (; !words[i].ends_command && !is_flag(words[i]); ++i) {
      const bool has_value = value.kind != Value::Kind::boolean;
      if (is_script(words[i]) && has_value) {
        break;  // of the launcher's arguments
      }
      if (is_reference_to_words(words[i])) {
        continue;
      }
      Value next(words[i].text);
      next.origin = words[i].origin;
      if (!has_value) {
        value = std::move(next);
      } else if (value.kind == Value::Kind::array) {
        value.push(std::move(next));
      } else {
        value = Value::make_array().push(std::move(value)).push(std::move(next));
      }
    }
    value.origin = flag.origin;
    put(flag.text.substr(0, equals), std::move(value), flag.origin);
    return i;
  }

  void put(std::string name, Value value, Origin origin) {
    Value& root = into_.flags.root;
    for (std::size_t i = 0; i < root.members.size(); ++i) {
      if (root.members[i].first == name) {
        root.members[i].second = std::move(value);
        root.key_origins[i] = origin;
        return;
      }
    }
    root.add(std::move(name), std::move(value));
    root.key_origins.back() = origin;
  }

  /// NAME=value and NAME+=value; flags in a quoted value are read too.
  std::size_t add_variable(const std::vector<Word>& words, std::size_t i) {
    const Word& word = words[i];
    const std::size_t end = end_of_name(word.text, 0);
    const bool appends = word.text.compare(end, 2, "+=") == 0;
    if (end > 0 && (appends || word.text.compare(end, 1, "=") == 0)) {
      const std::string name = word.text.substr(0, end);
      const std::string value = word.text.substr(end + (appends ? 2 : 1));
      if (value.find("--") != std::string::npos && ++nested_ <= 1) {
        add(value, word.origin);
        holds_flags_.insert(name);
      } else {
        std::string& known = into_.variables[name];
        known = appends ? known + value : value;
      }
      nested_ = 0;
    } else if (is_script(word)) {
      into_.scripts.push_back(word.text);
    }
    return i + 1;
  }

  /// "${MODEL_ARGS[@]}" and $MODEL_ARGS stand for words that are read where they are written.
  [[nodiscard]] bool is_reference_to_words(const Word& word) const {
    const std::string& text = word.text;
    if (text.starts_with("${") && (text.ends_with("[@]}") || text.ends_with("[*]}"))) {
      return true;
    }
    const bool in_braces = text.starts_with("${") && text.ends_with('}');
    const std::size_t around = in_braces ? 2 : 1;
    return text.starts_with('$') && text.size() > around &&
           holds_flags_.count(text.substr(around, text.size() - around - (in_braces ? 1 : 0))) > 0;
  }

  const std::string& source_;
  int nested_ = 0;
  std::set<std::string> holds_flags_;  // variables whose text was read
  ArgumentText into_;
};

}  // namespace

ArgumentText parse_arguments(std::string_view text, const std::string& source_name) {
  Flags flags(source_name);
  flags.add(text, {.source = 0, .line = 1, .column = 1});
  return flags.finish();
}

std::string read_small_text(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw InputError(path.string() + ": cannot be read; expected a file");
  }
  std::string text(kLargestArguments + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestArguments) {
    throw InputError(path.string() + ": larger than 1 MiB; expected a configuration");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    throw InputError(path.string() + ": has a NUL byte; expected text");
  }
  return text;
}

}  // namespace titer
