#pragma once
// Keys of capacity questions that hold counts, "15T", "10M" or a number, or shares.

#include <optional>
#include <string_view>

#include "titer/campaign/capacity.hpp"
#include "titer/input/fields.hpp"

namespace titer {

inline constexpr double kMostBatchSlack = 0.5;

/// A number above zero.
struct CountLimit {
  double most;
  std::string_view what;
  std::string_view sample;
};
inline constexpr CountLimit kTrainedTokens = {1e24, "a number of tokens", "\"15T\""};

[[nodiscard]] std::optional<double> read_count(Reader& in,
                                               std::string_view key,
                                               const CountLimit& limit);

template <class T, auto Member, const auto& limit>
constexpr Field<T> count(std::string_view key, std::string_view about) {
  constexpr auto found = [](const Field<T>& own, Reader& in) {
    return read_count(in, own.key, limit);
  };
  Field<T> field = fields::single<Member, found, T>(key, about);
  field.schema = [](const Field<T>& /*own*/) {
    return schema::either(
        {schema::number({0, limit.most}), schema::text_like("^[-+.0-9eE]+[kKMBT]?$")});
  };
  return field;
}

/// A share, as "5%" or 0.05.
struct ShareLimit {
  Range range;
  std::string_view sample;
};
[[nodiscard]] std::optional<double> read_share(Reader& in,
                                               std::string_view key,
                                               const ShareLimit& limit);

template <class T, auto Member, const auto& limit>
constexpr Field<T> share(std::string_view key, std::string_view about) {
  constexpr auto read = [](const Field<T>& own, Reader& in, T& object) {
    if (const auto found = read_share(in, own.key, limit)) {
      object.*Member = *found;
    }
  };
  constexpr auto schema_of_share = [](const Field<T>& /*own*/) {
    return schema::either({schema::number(limit.range), schema::text_like("^[0-9.eE+-]+ ?%?$")});
  };
  return fields::special<T>(key, {read, schema_of_share, nullptr}, about);
}

}  // namespace titer
