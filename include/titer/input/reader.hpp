#pragma once
// The strict way from a Document to typed values: every key is asked for by name, checked for type,
// unit and range, and a key that nobody asked for is refused with a suggestion. Problems are
// collected, so that a user sees all mistakes of a file at once.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/input/choice.hpp"
#include "titer/input/document.hpp"
#include "titer/units/text.hpp"

namespace titer {

/// Collects problems; raise() throws them together as one InputError, if there are any.
class Problems {
 public:
  void add(std::string line) { lines_.push_back(std::move(line)); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  void raise() const;

 private:
  std::vector<std::string> lines_;
};

/// Reads the members of one JSON object. Each getter notes its key as known, reports a problem with
/// its place if the value is not right, and then returns a harmless stand-in, so that reading goes
/// on; Problems::raise() must run before the values are used. Call finish() last.
///
/// A quantity is a string with a unit ("25 GB/s"). Quantities, numbers and integers may be written
/// {"value": "25 GB/s", "source": "name"}, to say where the figure comes from. A null counts as
/// absent. `"$schema"` and `"notes"` are allowed in any object.
class Reader {
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

 public:
  /// Reads `document.root`, which must be an object. Document and problems must outlive the reader.
  Reader(const Document& document, Problems& problems);

  [[nodiscard]] bool has(std::string_view key) const;

  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::optional<std::string> maybe_text(std::string_view key);
  [[nodiscard]] std::string file(std::string_view key);  // a path, found from this file's folder
  [[nodiscard]] bool flag(std::string_view key, bool otherwise);
  [[nodiscard]] std::optional<bool> maybe_flag(std::string_view key);
  /// An integer in [least, most].
  [[nodiscard]] std::int64_t integer(std::string_view key,
                                     std::int64_t least,
                                     std::int64_t most = no_limit);
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(std::string_view key,
                                                          std::int64_t least,
                                                          std::int64_t most = no_limit);
  /// A plain number in [least, most]: a ratio, a count that need not be whole.
  [[nodiscard]] double number(std::string_view key, double least, double most);
  [[nodiscard]] std::optional<double> maybe_number(std::string_view key, double least, double most);
  /// A positive quantity (zero allowed for Seconds, which may be a latency of zero).
  template <class Q>
  [[nodiscard]] Q quantity(std::string_view key);
  template <class Q>
  [[nodiscard]] std::optional<Q> maybe_quantity(std::string_view key);
  /// The "source" of a quantity or number written as {"value", "source"}; "" if it has none.
  [[nodiscard]] std::string source_of(std::string_view key) const;

  /// One of the named alternatives; the message of a wrong name lists them.
  template <class E>
  [[nodiscard]] E choice(std::string_view key, std::span<const Choice<E>> choices) {
    return choices[name(key, names_of(choices))].value;
  }
  template <class E>
  [[nodiscard]] std::optional<E> maybe_choice(std::string_view key,
                                              std::span<const Choice<E>> choices) {
    const auto index = maybe_name(key, names_of(choices));
    return index ? std::optional<E>(choices[*index].value) : std::nullopt;
  }

  /// A nested object; a missing one is a problem (object) or empty (maybe_object).
  [[nodiscard]] Reader object(std::string_view key);
  [[nodiscard]] std::optional<Reader> maybe_object(std::string_view key);
  /// The elements of an array of objects; a missing array is a problem.
  [[nodiscard]] std::vector<Reader> objects(std::string_view key);
  /// An array of texts; a missing one is empty.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  /// The raw value, noted as known (for values of free form); nullptr when missing.
  [[nodiscard]] const Value* raw(std::string_view key);
  /// The keys in written order, less "$schema" and "notes" (for objects that map free names).
  [[nodiscard]] std::vector<std::string> keys() const;

  /// The keys that were not asked for and are not null, less "$schema" and "notes", in written
  /// order.
  [[nodiscard]] std::vector<std::string> unknown_keys() const;

  /// Reports a problem with the value of `key` of this object; with the object itself for "".
  void fail(std::string_view key, std::string_view message);
  /// Refuses every key that was not asked for, naming the closest known one.
  void finish();

 private:
  Reader(const Document& document, const Value& value, std::string path, Problems& problems);

  template <class E>
  [[nodiscard]] static std::vector<std::string_view> names_of(std::span<const Choice<E>> choices) {
    std::vector<std::string_view> names;
    for (const auto& choice : choices) {
      names.push_back(choice.name);
    }
    return names;
  }
  [[nodiscard]] const Value* take(std::string_view key);
  [[nodiscard]] std::pair<const Value*, std::string> take_figure(std::string_view key,
                                                                 std::string_view expected);
  template <class Of, class Expected>
  [[nodiscard]] auto maybe_figure(std::string_view key, const Of& of, const Expected& expected);
  [[nodiscard]] Reader child(const Value& value, std::string path);
  [[nodiscard]] std::string path_to(std::string_view key) const;
  [[nodiscard]] std::size_t name(std::string_view key, const std::vector<std::string_view>& names);
  [[nodiscard]] std::optional<std::size_t> maybe_name(std::string_view key,
                                                      const std::vector<std::string_view>& names);
  void require(std::string_view key, std::string_view expected);
  void refuse(const std::string& path, const Value& value, std::string_view message);
  void report(Origin origin, const std::string& path, std::string_view message);

  const Document* document_;
  const Value* value_;
  std::string path_;
  Problems* problems_;
  std::vector<std::string> known_;
};

/// The candidate closest to `word` (edit distance, case apart, at most 2 or a third of the word,
/// and less than the whole of either), or "". A swap of two neighbours counts as one edit.
[[nodiscard]] std::string_view closest(std::string_view word,
                                       std::span<const std::string_view> candidates);
/// "; did you mean "x"?" of the closest, or `otherwise`: the end of a message.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string_view> candidates,
                                     std::string_view otherwise = "");
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates,
                                     std::string_view otherwise = "");

}  // namespace titer
