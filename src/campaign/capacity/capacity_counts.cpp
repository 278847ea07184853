// Counts and shares as people write them.

#include "capacity_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/units/number_text.hpp"

namespace titer {

namespace {

/// A number, or a text that `parse` understands; what is not `good` is refused.
template <class Parse, class Good>
std::optional<double> read_written(Reader& in,
                                   std::string_view key,
                                   const Parse& parse,
                                   const Good& good,
                                   const std::string& expected) {
  const Value* written = in.raw(key);
  if (written == nullptr) {
    return std::nullopt;
  }
  const auto found = written->kind == Value::Kind::text     ? parse(written->text)
                     : written->kind == Value::Kind::number ? std::optional(written->number)
                                                            : std::nullopt;
  if (!found || !good(*found)) {
    in.fail(key, expected);
    return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<double> read_count(Reader& in, std::string_view key, const CountLimit& limit) {
  return read_written(
      in,
      key,
      parse_count,
      [&](double count) { return count > 0 && count <= limit.most; },
      fmt::format(
          "expected {} above zero, up to {:g}, such as {}", limit.what, limit.most, limit.sample));
}

std::optional<double> read_share(Reader& in, std::string_view key, const ShareLimit& limit) {
  return read_written(
      in,
      key,
      parse_share,
      [&](double share) { return share >= limit.range.least && share <= limit.range.most; },
      fmt::format("expected a share from {}", limit.sample));
}

std::optional<double> parse_count(std::string_view text) {
  constexpr std::array<std::pair<char, double>, 5> sizes = {
      {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}}};
  const auto count = take_number<double>(text);
  if (!count || !std::isfinite(*count) || *count <= 0) {
    return std::nullopt;
  }
  if (text.empty()) {
    return count;
  }
  const auto* size =
      std::ranges::find_if(sizes, [=](const auto& known) { return known.first == text.front(); });
  return text.size() == 1 && size != sizes.end() ? std::optional(*count * size->second)
                                                 : std::nullopt;
}

std::optional<double> parse_share(std::string_view text) {
  const auto share = take_number<double>(text);
  if (!share || text.empty()) {
    return share;
  }
  return text == "%" || text == " %" ? std::optional(*share / 100) : std::nullopt;
}

std::string offer_of_batch(std::int64_t batch, std::optional<std::int64_t> other) {
  if (!other) {
    return "";
  }
  const double off = std::abs(static_cast<double>(*other - batch)) / static_cast<double>(batch);
  const double percent = std::ceil(100 * off);
  return fmt::format(
      "; batch {} would do ({}--set training.global_batch={})",
      *other,
      percent <= 100 * kMostBatchSlack ? fmt::format("--batch-slack {:.0f}%, or ", percent) : "",
      *other);
}

}  // namespace titer
