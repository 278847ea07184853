#pragma once
// Tables of keys (input/fields.hpp) whose figures have sources: where each comes from is noted.

#include <string>

#include "titer/hardware/evidence.hpp"
#include "titer/hardware/fit_errors.hpp"
#include "titer/input/fields.hpp"

namespace titer {

/// A mark: a figure, whose source is noted.
inline constexpr unsigned kFigure = 1;

[[nodiscard]] Value fit_errors_schema();

namespace fields {

inline constexpr std::string_view kNoPath;

template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> figure(std::string_view key, Range range, std::string_view about) {
  return number<Member, T>(key, range, about).marked(kFigure);
}
template <auto Member, class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> figure(std::string_view key, std::string_view about) {
  return quantity<Member, T>(key, about).marked(kFigure);
}

/// The texts of the sources that figures name.
template <auto Evidences, class T = ObjectOf<Evidences>>
[[nodiscard]] constexpr Field<T> sources() {
  return special<T>(
      "sources",
      {[](const Field<T>& /*own*/, Reader& in, T& object) { (object.*Evidences).read_sources(in); },
       [](const Field<T>& /*own*/) {
         return Value::make_object()
             .add("type", "object")
             .add("additionalProperties", schema::text());
       },
       nullptr},
      "what figures name as their `source`");
}

/// How far off a fit leaves times: noted below `above`, as in "network.".
template <auto Errors, auto Evidences, const auto& above, class T = ObjectOf<Errors>>
[[nodiscard]] constexpr Field<T> error_bars() {
  return of_schema<T, fit_errors_schema>(
      "error_bars",
      [](const Field<T>& /*own*/, Reader& in, T& object) {
        object.*Errors = read_fit_errors(in, above, object.*Evidences);
      },
      "between which shares of a predicted time four of five measured ones lie");
}

}  // namespace fields

/// Reads an object by its table; its figures are noted under `path`, as in "memory.".
template <class T>
void read_noted(std::span<const Field<T>> table,
                Reader& in,
                const std::string& path,
                EvidenceList& evidence,
                T& object) {
  for (const Field<T>& field : table) {
    field.read(field, in, object);
    if ((field.marks & kFigure) != 0 && in.has(field.key)) {
      evidence.note(in, field.key, path + std::string(field.key));
    }
  }
  in.finish();
}

namespace fields {

/// An object with a table of its own, whose figures are noted under its path: that of what holds
/// it, and its key.
template <auto Member,
          const auto& table,
          auto Evidences,
          const auto& above = kNoPath,
          class T = ObjectOf<Member>>
[[nodiscard]] constexpr Field<T> part(std::string_view key, std::string_view about) {
  using Part = TypeOf<Member>;
  Field<T> field{.key = key, .about = about, .alone = false};
  field.read = [](const Field<T>& own, Reader& in, T& object) {
    auto inner = own.required ? std::optional(in.object(own.key)) : in.maybe_object(own.key);
    if (inner) {
      const std::string path = std::string(above) + std::string(own.key) + ".";
      Part read;
      read_noted<Part>(table, *inner, path, object.*Evidences, read);
      object.*Member = std::move(read);
    }
  };
  field.schema = [](const Field<T>& /*own*/) { return schema_of<Part>(table); };
  return field;
}

}  // namespace fields

}  // namespace titer
