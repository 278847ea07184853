#pragma once
// The keys of an object of a file as a table, each stated once: its name, what may be written, the
// member that it is read into, what it means, and what of an answer it affects. The loader, the
// JSON schema, the reference, and the keys of what is kept from one object to the next follow.

#include <cstddef>
#include <cstdint>
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
  bool kept = false;       // written also where it is as in a new T
  bool alone = true;       // its members follow from its own value, whatever the other keys are
  unsigned affects = ~0U;  // bits of the table's owner: all, until it is known what not
  unsigned marks = 0;      // likewise, of what else the owner tells apart
  Range range{};
  bool (*applies)(const T& object) = nullptr;  // of what the keys before say; null: always
  void (*read)(const Field& own, Reader& in, T& object) = nullptr;
  Value (*schema)(const Field& own) = nullptr;
  Value (*write)(const T& object) = nullptr;  // as a file has it; null: left out
  bool (*same)(const T& a, const T& b) = nullptr;
  void (*copy)(const T& from, T& to) = nullptr;
  void (*set)(std::int64_t number, T& object) = nullptr;  // of whole numbers

  // The same but for one of these.
  [[nodiscard]] constexpr Field needed() const { return but(&Field::required, true); }
  [[nodiscard]] constexpr Field always_written() const { return but(&Field::kept, true); }
  [[nodiscard]] constexpr Field where(bool (*function)(const T&)) const {
    return but(&Field::applies, function);
  }
  [[nodiscard]] constexpr Field or_else(std::string_view words) const {
    return but(&Field::otherwise, words);
  }
  [[nodiscard]] constexpr Field within(Range bounds) const { return but(&Field::range, bounds); }
  [[nodiscard]] constexpr Field stands_alone(bool whether) const {
    return but(&Field::alone, whether);
  }
  [[nodiscard]] constexpr Field affecting(unsigned bits) const {
    return but(&Field::affects, bits);
  }
  [[nodiscard]] constexpr Field marked(unsigned bits) const { return but(&Field::marks, bits); }
  [[nodiscard]] constexpr Field read_by(void (*function)(const Field&, Reader&, T&)) const {
    return but(&Field::read, function);
  }

  template <class V>
  [[nodiscard]] constexpr Field but(V Field::*member, std::type_identity_t<V> value) const {
    Field field = *this;
    field.*member = value;
    return field;
  }
};

/// Reads the keys of a table; others are for whoever knows the rest of the object.
template <class T>
void read_keys(std::span<const Field<T>> table, Reader& in, T& object) {
  for (const Field<T>& field : table) {
    if (field.applies == nullptr || field.applies(object)) {
      field.read(field, in, object);
    }
  }
}
/// Reads an object by its table, and refuses keys that are not in it.
template <class T>
void read_fields(std::span<const Field<T>> table, Reader& in, T& object) {
  read_keys(table, in, object);
  in.finish();
}

/// Adds what of an object a file has by these keys, without what is as usual and need not be said.
template <class T>
void write_keys(std::span<const Field<T>> table, const T& object, const T& usual, Value& into) {
  for (const Field<T>& field : table) {
    if ((field.applies == nullptr || field.applies(object)) &&
        (field.required || field.kept || !field.same(object, usual))) {
      if (Value value = field.write(object); value.kind != Value::Kind::null) {
        into.add(std::string(field.key), std::move(value));
      }
    }
  }
}
template <class T>
void write_keys(std::span<const Field<T>> table, const T& object, Value& into) {
  const T usual{};
  write_keys(table, object, usual, into);
}
template <class T>
[[nodiscard]] Value write_fields(std::span<const Field<T>> table, const T& object) {
  Value written = Value::make_object();
  write_keys(table, object, written);
  return written;
}

/// Adds the keys of a table to a schema of objects.
template <class T>
void add_keys(std::span<const Field<T>> table, Value& schema, const T* usual = nullptr) {
  const auto usually = [&](const Field<T>& field) {
    if (field.write == nullptr) {
      return Value();
    }
    return usual == nullptr ? field.write(T{}) : field.write(*usual);
  };
  for (const Field<T>& field : table) {
    schema::add_key(schema,
                    {.key = field.key,
                     .about = field.about,
                     .otherwise = field.otherwise,
                     .required = field.required && field.applies == nullptr,
                     .written = field.schema(field),
                     .usual = usually(field)});
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

}  // namespace titer
