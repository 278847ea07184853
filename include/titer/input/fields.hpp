#pragma once
// The keys of an object of a file as a table, each stated once: its name, what may be written, the
// member that it is read into, what it means, and what of an answer it affects. The loader, the
// JSON schema, the reference, and the keys of what is kept from one object to the next follow.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "titer/input/reader.hpp"
#include "titer/input/schema.hpp"

namespace titer {

/// A key of objects that are read into a T.
template <class T>
struct Field {
  std::string_view key;
  std::string_view about;        // what it is, without a full stop
  std::string_view otherwise{};  // what it is where it is left out; "": as in a new T
  bool required = false;
  bool alone = true;       // its members follow from its own value, whatever the other keys are
  unsigned affects = ~0U;  // bits of the table's owner: all, until it is known what not
  unsigned marks = 0;      // likewise, of what else the owner tells apart
  Range range{};
  void (*read)(const Field& own, Reader& in, T& object) = nullptr;
  Value (*schema)(const Field& own) = nullptr;
  Value (*write)(const T& object) = nullptr;  // as a file has it; null: left out
  bool (*same)(const T& a, const T& b) = nullptr;
  void (*copy)(const T& from, T& to) = nullptr;
  void (*set)(std::int64_t number, T& object) = nullptr;  // of whole numbers

  // The same but for one of these.
  [[nodiscard]] constexpr Field needed() const {
    Field field = *this;
    field.required = true;
    return field;
  }
  [[nodiscard]] constexpr Field or_else(std::string_view words) const {
    Field field = *this;
    field.otherwise = words;
    return field;
  }
  [[nodiscard]] constexpr Field stands_alone(bool whether) const {
    Field field = *this;
    field.alone = whether;
    return field;
  }
  [[nodiscard]] constexpr Field affecting(unsigned bits) const {
    Field field = *this;
    field.affects = bits;
    return field;
  }
  [[nodiscard]] constexpr Field marked(unsigned bits) const {
    Field field = *this;
    field.marks = bits;
    return field;
  }
  [[nodiscard]] constexpr Field read_by(void (*function)(const Field&, Reader&, T&)) const {
    Field field = *this;
    field.read = function;
    return field;
  }
};

/// Reads the keys of a table; others are for whoever knows the rest of the object.
template <class T>
void read_keys(std::span<const Field<T>> table, Reader& in, T& object) {
  for (const Field<T>& field : table) {
    field.read(field, in, object);
  }
}
/// Reads an object by its table, and refuses keys that are not in it.
template <class T>
void read_fields(std::span<const Field<T>> table, Reader& in, T& object) {
  read_keys(table, in, object);
  in.finish();
}

/// An object as a file has it, without what need not be said.
template <class T>
[[nodiscard]] Value write_fields(std::span<const Field<T>> table, const T& object) {
  Value written = Value::make_object();
  for (const Field<T>& field : table) {
    if (field.required || !field.same(object, T{})) {
      written.add(std::string(field.key), field.write(object));
    }
  }
  return written;
}

/// Adds the keys of a table to a schema of objects.
template <class T>
void add_keys(std::span<const Field<T>> table, Value& schema) {
  for (const Field<T>& field : table) {
    schema::add_key(schema,
                    {.key = field.key,
                     .about = field.about,
                     .otherwise = field.otherwise,
                     .required = field.required,
                     .written = field.schema(field),
                     .usual = field.write == nullptr ? Value() : field.write(T{})});
  }
}
/// The schema of objects of this table.
template <class T>
[[nodiscard]] Value schema_of(std::span<const Field<T>> table) {
  Value schema = schema::object();
  add_keys(table, schema);
  return schema;
}

/// nullptr where the table has no such key.
template <class T>
[[nodiscard]] const Field<T>* find_field(std::span<const Field<T>> table, std::string_view key) {
  for (const Field<T>& field : table) {
    if (field.key == key) {
      return &field;
    }
  }
  return nullptr;
}

/// Whether two objects are the same in all members that affect any of these. As fast as written
/// out: the table is known to the compiler.
template <const auto& table, unsigned affected, class T>
[[nodiscard]] bool same_where(const T& a, const T& b) {
  constexpr std::size_t size = std::tuple_size_v<std::remove_cvref_t<decltype(table)>>;
  return [&]<std::size_t... I>(std::index_sequence<I...> /*fields*/) {
    return (((table[I].affects & affected) == 0 || table[I].same(a, b)) && ...);
  }
  (std::make_index_sequence<size>{});
}

/// What fields of a table are made of, by the type of their members.
namespace fields {

template <class M>
struct MemberOf;
template <class T, class V>
struct MemberOf<V T::*> {
  using Object = T;
  using Type = V;
};
template <class V>
struct Bare {
  using Type = V;
};
template <class V>
struct Bare<std::optional<V>> {
  using Type = V;
};
template <auto Member>
using ObjectOf = typename MemberOf<decltype(Member)>::Object;
/// Of a member that need not have a value: the value's.
template <auto Member>
using TypeOf = typename Bare<typename MemberOf<decltype(Member)>::Type>::Type;

/// nullptr where the member has no value.
template <auto Member, class T>
[[nodiscard]] const TypeOf<Member>* value_of(const T& object) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(object.*Member)>, TypeOf<Member>>) {
    return &(object.*Member);
  } else {
    return object.*Member ? &*(object.*Member) : nullptr;
  }
}

/// A number or yes or no, as a file has it.
template <auto Member, class T>
[[nodiscard]] Value write_plain(const T& object) {
  const auto* value = value_of<Member>(object);
  if (value == nullptr) {
    return {};
  }
  if constexpr (std::is_integral_v<TypeOf<Member>> && !std::is_same_v<TypeOf<Member>, bool>) {
    return static_cast<std::int64_t>(*value);
  } else {
    return *value;
  }
}

template <class V>
[[nodiscard]] bool is_equal(const V& a, const V& b) {
  if constexpr (requires { is_same(a, b); }) {
    return is_same(a, b);
  } else {
    return a == b;
  }
}

/// A key whose value is read into some members in a way of its own.
template <class T>
struct Special {
  void (*read)(const Field<T>& own, Reader& in, T& object);
  Value (*schema)(const Field<T>& own);
  Value (*write)(const T& object);
};
template <class T, auto... Members>
[[nodiscard]] constexpr Field<T> special(std::string_view key,
                                         const Special<T>& as,
                                         std::string_view about) {
  return {
      .key = key,
      .about = about,
      .alone = false,
      .read = as.read,
      .schema = as.schema,
      .write = as.write,
      .same = []([[maybe_unused]] const T& a,
                 [[maybe_unused]] const T& b) { return (is_equal(a.*Members, b.*Members) && ...); },
      .copy = []([[maybe_unused]] const T& from,
                 [[maybe_unused]] T& to) { ((to.*Members = from.*Members), ...); }};
}

/// Likewise; what it may be is what `schema` returns, whatever the field.
template <class T, auto schema>
[[nodiscard]] constexpr Field<T> of_schema(std::string_view key,
                                           void (*read)(const Field<T>&, Reader&, T&),
                                           std::string_view about) {
  return special<T>(key, {read, [](const Field<T>& /*own*/) { return schema(); }, nullptr}, about);
}

/// The rest of a field of one member, whose value `found` reads.
template <auto Member, auto found, class T>
[[nodiscard]] constexpr Field<T> single(std::string_view key, std::string_view about) {
  return {.key = key,
          .about = about,
          .read =
              [](const Field<T>& own, Reader& in, T& object) {
                if (auto value = found(own, in)) {
                  object.*Member = static_cast<TypeOf<Member>>(*std::move(value));
                }
              },
          .same = [](const T& a, const T& b) { return a.*Member == b.*Member; },
          .copy = [](const T& from, T& to) { to.*Member = from.*Member; }};
}

[[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view key,
                                                       Range range,
                                                       bool required,
                                                       Reader& in);

template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> integer(std::string_view key,
                                         Range range,
                                         std::string_view about) {
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    return read_integer(own.key, own.range, own.required, in);
  };
  Field<T> field = single<Member, found, T>(key, about);
  field.range = range;
  field.schema = [](const Field<T>& own) { return schema::figure(schema::integer(own.range)); };
  field.write = write_plain<Member, T>;
  field.set = [](std::int64_t number, T& object) {
    object.*Member = static_cast<TypeOf<Member>>(number);
  };
  return field;
}

template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> number(std::string_view key, Range range, std::string_view about) {
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    const auto [least, most] = own.range;
    return own.required ? std::optional(in.number(own.key, least, most))
                        : in.maybe_number(own.key, least, most);
  };
  Field<T> field = single<Member, found, T>(key, about);
  field.range = range;
  field.schema = [](const Field<T>& own) { return schema::figure(schema::number(own.range)); };
  field.write = write_plain<Member, T>;
  return field;
}

template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> flag(std::string_view key, std::string_view about) {
  constexpr auto found = [](const Field<T>& own, Reader& in) { return in.maybe_flag(own.key); };
  Field<T> field = single<Member, found, T>(key, about);
  field.schema = [](const Field<T>& /*own*/) { return schema::flag(); };
  field.write = write_plain<Member, T>;
  return field;
}

template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> quantity(std::string_view key, std::string_view about) {
  using Q = TypeOf<Member>;
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    return own.required ? std::optional(in.quantity<Q>(own.key)) : in.maybe_quantity<Q>(own.key);
  };
  Field<T> field = single<Member, found, T>(key, about);
  field.schema = [](const Field<T>& /*own*/) { return schema::figure(schema::quantity<Q>()); };
  field.write = [](const T& object) {
    const auto* value = value_of<Member>(object);
    return value == nullptr ? Value() : Value(exact_text(*value));
  };
  return field;
}

template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> text(std::string_view key, std::string_view about) {
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    return own.required ? std::optional(in.text(own.key)) : in.maybe_text(own.key);
  };
  Field<T> field = single<Member, found, T>(key, about);
  field.schema = [](const Field<T>& /*own*/) { return schema::text(); };
  return field;
}

/// A text that nothing depends on.
template <class T>
[[nodiscard]] constexpr Field<T> label(std::string_view key, std::string_view about) {
  return of_schema<T, schema::text>(
      key,
      [](const Field<T>& own, Reader& in, T& /*object*/) {
        static_cast<void>(own.required ? in.text(own.key) : in.maybe_text(own.key).value_or(""));
      },
      about);
}

/// A key whose value is not read, but may be there.
template <class T>
[[nodiscard]] constexpr Field<T> anything(std::string_view key, std::string_view about) {
  return of_schema<T, Value::make_object>(
      key,
      [](const Field<T>& own, Reader& in, T& /*object*/) { static_cast<void>(in.raw(own.key)); },
      about);
}

/// One of some names; of several for one value the first is the one that is written.
template <auto Member, const auto& choices, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> choice(std::string_view key, std::string_view about) {
  using E = TypeOf<Member>;
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    const std::span<const Choice<E>> named(choices);
    return own.required ? std::optional(in.choice<E>(own.key, named))
                        : in.maybe_choice<E>(own.key, named);
  };
  Field<T> field = single<Member, found, T>(key, about);
  field.schema = [](const Field<T>& /*own*/) {
    return schema::one_of<E>(std::span<const Choice<E>>(choices));
  };
  field.write = [](const T& object) {
    const auto* value = value_of<Member>(object);
    for (const Choice<E>& one : choices) {
      if (value != nullptr && one.value == *value) {
        return Value(one.name);
      }
    }
    return Value();
  };
  return field;
}

/// An object with a table of its own, which `table` returns.
template <auto Member, auto table, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> object(std::string_view key, std::string_view about) {
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    std::optional<TypeOf<Member>> inner;
    if (auto written = in.maybe_object(own.key)) {
      read_fields(table(), *written, inner.emplace());
    }
    return inner;
  };
  Field<T> field = single<Member, found, T>(key, about);
  field.schema = [](const Field<T>& /*own*/) { return schema_of(table()); };
  field.write = [](const T& object) {
    const auto* value = value_of<Member>(object);
    Value written = value == nullptr ? Value() : write_fields(table(), *value);
    return written.members.empty() ? Value() : written;
  };
  return field;
}

}  // namespace fields

}  // namespace titer
