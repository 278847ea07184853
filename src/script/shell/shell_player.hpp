#pragma once
// Goes through the commands of a script: control flow in shell_flow.cpp, what single commands do in
// shell_play.cpp.

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shell_play.hpp"
#include "shell_script.hpp"
#include "titer/units/lists.hpp"

namespace titer::shell {

[[nodiscard]] inline bool is_one_of(std::string_view word,
                                    std::initializer_list<std::string_view> words) {
  return includes(words, word);
}

class Player {
 public:
  Player(const std::string& source,
         const std::map<std::string, std::string, std::less<>>& initial,
         const std::map<std::string, std::string, std::less<>>& defines,
         const FindSourced& find_sourced);

  Play all(const Text& script);

 private:
  /// Bodies that may be run, and what decides which.
  struct Open {
    std::vector<const Commands*> bodies;
    std::optional<Question> question;
    bool is_settled = false;
    const Commands* taken_as_false = nullptr;  // the first on a condition that nobody can tell
  };

  struct FileAtHand {
    std::string name;
    Commands commands;
    BatchOptions batch;
  };

  // ---- control flow
  [[nodiscard]] bool stops() const { return has_left_ || has_returned_ || ends_turn_; }
  /// Commands one after another; what the last of them came to.
  Verdict run(const Commands& commands);
  Verdict run(const Command& command);
  /// A command that may be run or not.
  void run_if(const Question& question, const Command& command);
  [[nodiscard]] bool calls_exit(const Command& command) const;
  /// Each of the bodies on its own (null: nothing happens); what they set differently depends on
  /// the question from then on. A body that ends the script is not the one that was taken.
  void fork(const std::vector<const Commands*>& bodies, const Question& question);
  /// What a condition comes to, with all before its last command.
  Verdict condition(const Commands& commands);
  Verdict judged(const Command& command);
  static void ask(Open& open, const Question& question);
  /// Whether a branch may be taken, and notes it where it is.
  void add_branch(const Branch& branch, Open& open);
  void conditional(const Command& command);
  void choose(const Command& command);
  void follow(Open& open);
  /// As often as its condition holds, if that is told; false, with all as it was, if it is not.
  bool turn(const Command& loop);
  /// As if it were never gone through, but for the commands that it would run.
  void turn_once(const Command& loop);
  void go_over(const Command& command);
  /// One turn of a loop; false after a break or an exit.
  bool run_turn(const Commands& body);

  // ---- commands
  /// i = 0, i++ …; false where a value is not known.
  bool count(std::string_view list);
  void set(const std::string& name, Variable value);
  void assign(const Assignment& assignment);
  /// What is there already, with more after it.
  static Variable appended(const Variable& before, Variable more);
  void check(const std::vector<Text>& items) const;
  void documents(const Command& command);
  /// What echo prints into a file.
  void write(const Command& command, const Text& printed);
  [[nodiscard]] bool sets_element(const Text& word);
  std::vector<Text> words_of(const Command& command);
  /// The same as far as the command goes: a value may hold a pipe and what comes after it.
  std::vector<Text> words_run(const Command& command);
  /// Whether "$@" of the script itself is among the words, whose arguments nobody knows.
  [[nodiscard]] std::optional<Origin> passes_arguments(const Command& command) const;
  Verdict simple(const Command& command);
  void run_words(const Command& command);
  /// "NPROC_PER_NODE=8 swift …", which tells the program alone.
  [[nodiscard]] static bool sets_for_itself(const Command& command);
  /// What is set of kOfDevices, and puts it back.
  [[nodiscard]] Variables of_devices() const;
  void restore(Variables of_devices);
  void evaluate(const Command& command);
  void execute(std::vector<Text> words);
  /// exit, return, break, continue, unset, shift, set, source; false for another.
  bool builtin(const std::string& head, const std::vector<Text>& words);
  void shift(const std::vector<Text>& words);
  /// Of `set`: what exports every variable, and arguments after "--".
  void set_options(const std::vector<Text>& words);
  [[nodiscard]] std::optional<FileAtHand> at_hand(const Text& file) const;
  /// Goes through a file as if it stood there.
  void go_through(FileAtHand file, Origin at);
  void source(const Text& file);
  /// A script at hand that a command starts: it sees its arguments and what is exported, and what
  /// it sets is gone when it has ended.
  bool starts_script(std::vector<Text>& words);
  /// What Slurm tells a script that sbatch is given, with these words before it.
  void queue(std::vector<Text>::const_iterator first,
             std::vector<Text>::const_iterator script,
             const BatchOptions& of_script);
  void export_names(const Command& command);
  void export_options(std::vector<Text>::iterator first, std::vector<Text>::iterator last);
  /// echo and cat: what a shell behind a pipe would be given.
  void print(const Command& command, const std::vector<Text>& words);
  /// A shell, or Slurm's sbatch, that reads its commands from a pipe or a here-document.
  bool reads_commands(const Command& command, const std::vector<Text>& words);
  /// What a function declares with `local` is as it was before when it has returned.
  void declare(const Command& command);
  void keep(const std::string& name);
  /// s/NAME/value/
  void replace(const Text& word);
  /// Without arguments it gets those of the script, which nobody knows.
  void call(const std::string& name, std::optional<std::vector<Text>> arguments);
  /// A text that a shell is given as commands; a text in which quotes do not match is none.
  void run_inside(const Text& text);
  /// Quoted words with flags in them are words of their own ("--fp8-format hybrid") or commands
  /// ("torchrun --nproc_per_node 8 …").
  void note(std::vector<Text> words);
  void note_word(Text word, bool is_commands, std::vector<Text>& made);

  const FindSourced& find_sourced_;
  Scope scope_;
  Play play_;
  std::optional<Text> printed_;  // by the command before, which may be piped to a shell
  std::map<std::string, Commands, std::less<>> functions_;
  std::map<std::string, std::optional<Variable>> outer_;  // of what the function has as its own
  std::set<std::string, std::less<>> exported_;
  bool exports_all_ = false;
  Variables of_started_;        // what scripts had set that were started
  std::vector<Text> launcher_;  // words of the command that the one being run is an argument of
  std::optional<Question> if_only_;
  std::optional<Origin> passes_;  // the arguments of the script, in the command being run
  bool has_left_ = false;
  bool has_returned_ = false;
  bool ends_turn_ = false;  // of a loop, after break and continue
  bool ends_loop_ = false;
  int steps_ = 0;
  int depth_ = 0;
  std::size_t words_ = 0;
};

}  // namespace titer::shell
