#pragma once
// What fields of a table are made of, by the type of the member that a key is read into.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "titer/input/field_table.hpp"

namespace titer::fields {

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
  field.write = [](const T& object) {
    const auto* value = value_of<Member>(object);
    return value == nullptr || value->empty() ? Value() : Value(*value);
  };
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

}  // namespace titer::fields
