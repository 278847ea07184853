#pragma once
// The settings of another program's file: flat, with those remembered that were asked for, so that
// the others can be listed.

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/input/document.hpp"
#include "titer/input/reader.hpp"

namespace titer {

/// Whether the program's file in configs/settings lists it as harmless.
[[nodiscard]] bool is_harmless(std::string_view key, std::string_view program);

inline constexpr std::string_view kUsual = "as its program has it by itself";
/// What counts only beside something else that a run has not.
inline constexpr std::string_view kSwitchedOff = "switched off, or of what the run has not";

/// Settings by name: a path of keys, joined by dots, in which dashes are underscores and the dashes
/// before a flag are left out ("--num-layers" is num_layers). A text may refer to others, as
/// ${NAME}, $NAME, ${NAME:-otherwise}, ${path.to.key}, ${.key}, ${multiply:a,b} and ${sum:a,b}. One
/// that cannot be told is noted as left open.
class Settings {
 public:
  static constexpr std::int64_t most_integer = 1'000'000'000'000;

  /// A key as it is called here: num_layers for --num-layers.
  [[nodiscard]] static std::string normalised(std::string_view key);

  /// `section`: the path of the object that holds the settings. All must outlive this.
  Settings(const Document& document,
           std::string_view section,
           const ImportOptions& options,
           Problems& problems);

  /// Settings "from…" become "to…". One that is there already must have the same value.
  void rename(std::string_view from, std::string_view to);
  /// The same of all that the program's file in configs/settings names otherwise.
  void rename_known(std::string_view program);
  /// The same of all whose names begin so, whatever follows.
  void rename_all(std::string_view from, std::string_view to);

  /// A setting that the file leaves to what it is based on: as if it were given, but in no list.
  void suppose(std::string_view key, Value value);
  /// A setting stands for another value than the one that is written; one that is not given is
  /// supposed.
  void replace(std::string_view key, Value value);

  /// Whether it is given, and not as null.
  [[nodiscard]] bool has(std::string_view key) const;
  /// Of several keys, divided by blanks, the first that is given; the first of all if none is.
  [[nodiscard]] std::string first_given(std::string_view keys) const;
  [[nodiscard]] bool any_given(std::string_view keys) const { return has(first_given(keys)); }
  /// Whether it was asked for, and is not told: "$(nproc)".
  [[nodiscard]] bool is_open(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key,
                                                    std::int64_t least,
                                                    std::int64_t most = most_integer);
  [[nodiscard]] std::optional<double> number(std::string_view key);
  [[nodiscard]] std::optional<bool> flag(std::string_view key);
  /// Whether a flag is given and not switched off.
  [[nodiscard]] bool is_on(std::string_view key) { return flag(key).value_or(false); }
  /// The same of several, all of which are asked for.
  [[nodiscard]] bool any_on(std::initializer_list<std::string_view> keys);
  /// In lower case for words of a closed set.
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<std::string> word(std::string_view key);
  [[nodiscard]] const Value* raw(std::string_view key);
  /// Like integer(), but reports what is missing or left open, and returns `least`.
  [[nodiscard]] std::int64_t required(std::string_view key,
                                      std::int64_t least,
                                      std::int64_t most = most_integer);

  /// Whether nothing was reported yet.
  [[nodiscard]] bool is_sound() const { return problems_.empty(); }
  /// Reports a problem with a setting; "" is the file.
  void fail(std::string_view key, std::string_view message);
  /// "run.yaml:7:3: --num-layers: 24", "run.yaml: num_layers" where it is not given.
  [[nodiscard]] std::string shown(std::string_view key) const;
  /// What is written, not noted as asked for; "" for what is not given.
  [[nodiscard]] std::string written(std::string_view key) const;
  /// Of what nobody asked for these are known to change neither time nor memory of a step, or no
  /// more than the figures of a stack hold for: what they are, and which, divided by blanks
  /// ("save_*" stands for all that begin so, "*_dir" for all that end so, "*wandb*" for all with it
  /// in them).
  void skip(std::string_view what, std::string_view patterns);
  /// So are those that the program's file in configs/settings lists.
  void skip_known(std::string_view program);
  /// So are those that say what the program, by that file, would take without them.
  void skip_usual(std::string_view program);
  [[nodiscard]] bool is_skipped(std::string_view key) const;
  /// What has been asked for turns out to stand for nothing here.
  void leave_out(std::string_view key, std::string_view why);
  /// Settings of this text are told by another file.
  void skip_told_elsewhere(std::string_view text);
  /// A section whose switch ("fp16.enabled") is off counts for nothing.
  void skip_what_is_off(std::string_view enabled);

  /// In the order of the file: the names of what was asked for; what is harmless, one line for each
  /// kind; and as located lines what may change the result and is not read, and what was asked for
  /// and left open.
  [[nodiscard]] std::vector<std::string> used() const;
  [[nodiscard]] std::vector<std::string> harmless() const;
  [[nodiscard]] std::vector<std::string> unread() const;
  [[nodiscard]] std::vector<std::string> open() const;

 private:
  struct Entry {
    std::string path;  // as written
    const Value* value = nullptr;
    Origin origin;  // of the key
    bool asked = false;
    bool is_told_elsewhere = false;
    bool is_supposed = false;
    std::string harmless{};  // what it is
    std::string missing{};   // what it refers to that is not known
    std::string unread{};    // why it was asked for in vain
  };
  [[nodiscard]] static bool is_settled(const Entry& entry) {
    return entry.asked || !entry.harmless.empty();
  }
  void skip_one(std::string_view what, std::string_view pattern);
  void flatten(const Value& object, const std::string& path, const std::string& name);
  Entry* take(std::string_view key);
  [[nodiscard]] const Entry* find(std::string_view key) const;
  /// The places of all of this name, or of those that begin so.
  [[nodiscard]] std::vector<std::size_t> places(std::string_view name, bool is_prefix) const;
  void rename_at(std::size_t place, std::string renamed);
  /// The text with what it refers to; empty, and noted, where that is not known.
  [[nodiscard]] std::optional<std::string> expand(const std::string& text, Entry& entry, int depth);
  [[nodiscard]] std::optional<std::string> refer(std::string_view inside, Entry& entry, int depth);
  [[nodiscard]] std::optional<std::string> of_environment(std::string_view inside,
                                                          Entry& entry,
                                                          int depth);
  [[nodiscard]] std::optional<std::string> compute(std::string_view inside,
                                                   Entry& entry,
                                                   int depth);
  [[nodiscard]] std::optional<std::string> configured(std::string_view path,
                                                      Entry& entry,
                                                      int depth);
  [[nodiscard]] std::string where(Origin origin) const;
  void refuse(const Entry& entry, std::string_view expected);
  [[nodiscard]] std::string shown_path(const Entry& entry) const;
  [[nodiscard]] std::string shown(const Entry& entry) const;
  [[nodiscard]] std::string usual_path(std::string_view key) const;
  /// " (did you mean --num-layers?)" of a key that nobody asked for, where one that is asked for
  /// and not given is written much the same.
  [[nodiscard]] std::string meant(std::string_view key) const;
  /// The value with its text expanded; empty where it is null or left open.
  [[nodiscard]] std::optional<Value> resolved(std::string_view key);

  const Document& document_;
  const ImportOptions& options_;
  Problems& problems_;
  int references_ = 0;      // followed so far
  bool has_flags_ = false;  // keys are written --like-this
  std::string section_;
  std::vector<std::pair<std::string, Entry>> entries_;
  std::deque<Value> supposed_;
  std::set<std::pair<std::string, std::size_t>> index_;  // names with their places in entries_
  std::set<std::string, std::less<>> absent_;            // asked for, and not there
};

}  // namespace titer
