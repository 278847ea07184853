#pragma once
// The options of a question, each once: the command line, files, Python and the page ask by them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/input/fields.hpp"

namespace titer {

struct DataKind;

/// Names of one kind of what is shipped.
template <const DataKind& kind>
inline constexpr std::array<const DataKind*, 1> kOnly = {&kind};

enum class OptionKind : std::uint8_t {
  text,
  texts,
  flag,
  integer,
  number,
  asked,    // a name, a file, or what such a file holds
  changes,  // values at paths: {"plan.tensor": 4}, or ["plan.tensor=4"]
};

/// What is said of an option, whatever reads it.
struct OptionWords {
  std::string_view key;    // "accept_unknown"; on the command line --accept-unknown
  std::string_view type;   // how help calls its value: "FILE"
  std::string_view about;  // without a full stop
  OptionKind kind = OptionKind::text;
  std::string_view usual{};   // what it is where it is left out
  std::string_view beside{};  // the key of an option that it needs
  bool is_needed = false;
  bool is_first = false;  // stands without its name on the command line
  bool is_file = false;   // names a file, or what is shipped of one of `kinds`
  std::span<const DataKind* const> kinds{};
  bool (*names)(std::string_view word) = nullptr;  // likewise, of what else is no file
  Range range{};
};

/// An option of questions that are read into an R.
template <class R>
struct Option {
  OptionWords words;
  void (*read)(const OptionWords& own, Reader& in, const Document& whole, R& request) = nullptr;

  // The same but for one of these.
  [[nodiscard]] constexpr Option needed() const { return but(&OptionWords::is_needed, true); }
  [[nodiscard]] constexpr Option optional() const { return but(&OptionWords::is_needed, false); }
  [[nodiscard]] constexpr Option first() const { return but(&OptionWords::is_first, true); }
  [[nodiscard]] constexpr Option with(std::string_view beside) const {
    return but(&OptionWords::beside, beside);
  }
  [[nodiscard]] constexpr Option or_else(std::string_view usual) const {
    return but(&OptionWords::usual, usual);
  }
  [[nodiscard]] constexpr Option file(std::span<const DataKind* const> kinds = {}) const {
    return but(&OptionWords::is_file, true).but(&OptionWords::kinds, kinds);
  }
  [[nodiscard]] constexpr Option file_unless(bool (*names)(std::string_view word)) const {
    return file().but(&OptionWords::names, names);
  }
  [[nodiscard]] constexpr Option within(Range range) const {
    return but(&OptionWords::range, range);
  }
  [[nodiscard]] constexpr Option as(OptionKind kind) const { return but(&OptionWords::kind, kind); }

  template <class V>
  [[nodiscard]] constexpr Option but(V OptionWords::*word, std::type_identity_t<V> value) const {
    Option option = *this;
    option.words.*word = value;
    return option;
  }
};

/// As the command line has it: "--accept-unknown".
[[nodiscard]] std::string dashed(const OptionWords& option);

/// How a mistake in it is told: "--fidelity" on a command line, elsewhere "fidelity".
[[nodiscard]] std::string told(const OptionWords& option, const Document& whole);

/// Refuses an option without the one that it needs beside it.
void check_beside(const OptionWords& own, Reader& in);

/// What an option is read as, by its kind; nothing where it is left out.
[[nodiscard]] std::optional<std::string> read_text(const OptionWords& own, Reader& in);
[[nodiscard]] std::optional<std::vector<std::string>> read_texts(const OptionWords& own,
                                                                 Reader& in);
/// A name, or the text of an object in its place.
[[nodiscard]] std::optional<std::string> read_named(const OptionWords& own, Reader& in);
/// Texts between commas, those within objects and lists of JSON left out.
[[nodiscard]] std::optional<std::vector<std::string>> read_list(const OptionWords& own, Reader& in);
[[nodiscard]] std::optional<std::int64_t> read_integer(const OptionWords& own, Reader& in);
[[nodiscard]] std::optional<double> read_number(const OptionWords& own, Reader& in);
[[nodiscard]] std::optional<Asked> read_asked(const OptionWords& own,
                                              Reader& in,
                                              const Document& whole);
[[nodiscard]] std::vector<Assignment> read_changes(const OptionWords& own, Reader& in);
/// What goes to a path of what is asked about, whatever is asked of it there.
[[nodiscard]] std::optional<Assignment> read_change(std::string_view path,
                                                    const OptionWords& own,
                                                    Reader& in);
/// Likewise a list of names and of objects in their place: between commas, or several.
[[nodiscard]] std::optional<Assignment> read_change_of_names(std::string_view path,
                                                             const OptionWords& own,
                                                             Reader& in);

namespace options {

/// What was read, if anything was.
template <auto Member, class T, class R = fields::ObjectOf<Member>>
void put(std::optional<T> value, R& request) {
  using Held = std::remove_cvref_t<decltype(request.*Member)>;
  if (!value) {
    return;
  }
  if constexpr (std::is_arithmetic_v<Held>) {
    request.*Member = static_cast<Held>(*value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    request.*Member = static_cast<typename Held::value_type>(*value);
  } else {
    request.*Member = *std::move(value);
  }
}

/// Reads whatever kind of value a member has.
template <auto Member, OptionKind kind, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> of(std::string_view key,
                                     std::string_view type,
                                     std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about, .kind = kind},
          .read = [](const OptionWords& own,
                     Reader& in,
                     [[maybe_unused]] const Document& whole,
                     R& request) {
            if constexpr (kind == OptionKind::text) {
              put<Member>(read_text(own, in), request);
            } else if constexpr (kind == OptionKind::texts) {
              put<Member>(read_texts(own, in), request);
            } else if constexpr (kind == OptionKind::flag) {
              put<Member>(in.maybe_flag(own.key), request);
            } else if constexpr (kind == OptionKind::integer) {
              put<Member>(read_integer(own, in), request);
            } else if constexpr (kind == OptionKind::number) {
              put<Member>(read_number(own, in), request);
            } else {
              if (auto asked = read_asked(own, in, whole)) {
                (request.*Member).what = std::move(asked->what);
              }
            }
          }};
}

template <auto Member>
[[nodiscard]] constexpr auto text(std::string_view key,
                                  std::string_view type,
                                  std::string_view about) {
  return of<Member, OptionKind::text>(key, type, about);
}
template <auto Member>
[[nodiscard]] constexpr auto texts(std::string_view key,
                                   std::string_view type,
                                   std::string_view about) {
  return of<Member, OptionKind::texts>(key, type, about);
}
/// Texts between commas, or several.
template <auto Member, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> list(std::string_view key,
                                       std::string_view type,
                                       std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about, .kind = OptionKind::texts},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            put<Member>(read_list(own, in), request);
          }};
}
template <auto Member>
[[nodiscard]] constexpr auto flag(std::string_view key, std::string_view about) {
  return of<Member, OptionKind::flag>(key, "", about);
}
template <auto Member>
[[nodiscard]] constexpr auto integer(std::string_view key,
                                     std::string_view type,
                                     std::string_view about) {
  return of<Member, OptionKind::integer>(key, type, about);
}
template <auto Member>
[[nodiscard]] constexpr auto number(std::string_view key,
                                    std::string_view type,
                                    std::string_view about) {
  return of<Member, OptionKind::number>(key, type, about);
}
template <auto Member>
[[nodiscard]] constexpr auto asked(std::string_view key,
                                   std::string_view type,
                                   std::string_view about) {
  return of<Member, OptionKind::asked>(key, type, about);
}
/// The name of data, or its object.
template <auto Member, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> named(std::string_view key,
                                        std::string_view type,
                                        std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            put<Member>(read_named(own, in), request);
          }};
}
/// One of `choices`, by its name.
template <auto Member, const auto& choices, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> choice(std::string_view key,
                                         std::string_view type,
                                         std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about},
          .read = [](const OptionWords& own, Reader& in, const Document& whole, R& request) {
            if (const auto name = read_text(own, in)) {
              request.*Member = chosen(told(own, whole), *name, choices);
            }
          }};
}
/// Changes to what is asked about, "set".
template <auto Member, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> changes(std::string_view about) {
  return {
      .words = {.key = "set", .type = "PATH=VALUE", .about = about, .kind = OptionKind::changes},
      .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
        (request.*Member).changes = read_changes(own, in);
      }};
}

inline constexpr std::string_view kOwnKey;

/// A change at the path of the option's own name, or at another.
template <auto Member, const std::string_view& path = kOwnKey, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> value(std::string_view key,
                                        std::string_view type,
                                        std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            if (auto change = read_change(path.empty() ? own.key : path, own, in)) {
              (request.*Member).changes.push_back(*std::move(change));
            }
          }};
}
/// Names of data, or their objects, as a change at that path.
template <auto Member, const std::string_view& path, class R = fields::ObjectOf<Member>>
[[nodiscard]] constexpr Option<R> names(std::string_view key,
                                        std::string_view type,
                                        std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            if (auto change = read_change_of_names(path, own, in)) {
              (request.*Member).changes.push_back(*std::move(change));
            }
          }};
}

}  // namespace options

/// A request as a document has it, whose "question" is passed over. Throws InputError.
template <class R>
[[nodiscard]] R read_request(std::span<const Option<R>> table, const Document& document) {
  Problems problems;
  Reader in(document, problems);
  static_cast<void>(in.raw("question"));
  R request;
  for (const Option<R>& option : table) {
    check_beside(option.words, in);
    option.read(option.words, in, document, request);
  }
  in.finish();
  problems.raise();
  return request;
}

template <class R>
[[nodiscard]] std::vector<OptionWords> words_of(std::span<const Option<R>> table) {
  std::vector<OptionWords> words;
  for (const Option<R>& option : table) {
    words.push_back(option.words);
  }
  return words;
}

}  // namespace titer
