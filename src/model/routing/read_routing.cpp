// From a document, and what does not fit together in it.

#include <fmt/core.h>

#include <algorithm>

#include "titer/input/fields.hpp"
#include "titer/model/routing/routing.hpp"
#include "titer/model/routing/zipf.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostGroups = 256;
constexpr std::int64_t kMostExperts = 1'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000;

std::vector<double> read_histogram(Reader& in) {
  std::vector<double> histogram;
  const Value* list = in.raw("histogram");
  constexpr std::string_view expected =
      "expected a list of the tokens of each expert: numbers, none negative, one positive";
  if (list == nullptr || list->kind != Value::Kind::array) {
    in.fail("histogram", expected);
    return {1};
  }
  bool good = list->items.size() <= static_cast<std::size_t>(kMostExperts);
  double sum = 0;
  for (const Value& item : list->items) {
    good = good && item.kind == Value::Kind::number && item.number >= 0 && item.number <= 1e18;
    histogram.push_back(item.number);
    sum += item.number;
  }
  if (!good || sum <= 0) {
    in.fail("histogram", expected);
    return {1};
  }
  return histogram;
}

using R = Routing;

void read_exponent(const Field<R>& own, Reader& in, R& routing) {
  if (routing.shape == RoutingShape::zipf) {
    routing.exponent = in.number(own.key, 0, own.range.most);
  } else if (in.maybe_number(own.key, 0, own.range.most)) {
    in.fail(own.key, "expected none: only the shape \"zipf\" has one");
  }
}
Value write_exponent(const R& routing) {
  return routing.shape == RoutingShape::zipf ? Value(routing.exponent) : Value();
}

void read_tokens(const Field<R>& own, Reader& in, R& routing) {
  if (routing.shape == RoutingShape::measured) {
    routing.histogram = read_histogram(in);
  } else if (in.raw(own.key) != nullptr) {
    in.fail(own.key, "expected none: only the shape \"measured\" has one");
  }
}
Value write_tokens(const R& routing) {
  Value list = Value::make_array();
  for (const double tokens : routing.histogram) {
    list.push(tokens);
  }
  return routing.shape == RoutingShape::measured ? list : Value();
}

void read_padded(const Field<R>& own, Reader& in, R& routing) {
  routing.padded = in.flag(own.key, false);
  if (routing.padded && !routing.capacity_factor) {
    in.fail(own.key, "expected a \"capacity_factor\" to pad to");
  }
}

void read_dense_group(const Field<R>& own, Reader& in, R& routing) {
  routing.dense_group = in.maybe_integer(own.key, 1, kMostTokens);
  if (routing.dense_group && !routing.padded) {
    in.fail(own.key, "expected \"padded\": true beside it, as masks have all places");
  }
}

void read_probability(const Field<R>& own, Reader& in, R& routing) {
  routing.second_probability = in.maybe_number(own.key, 0, 1);
  if (routing.second_probability && !routing.random_second) {
    in.fail(own.key, "expected \"random_second\": true beside it");
  }
}

void read_chosen(const Field<R>& own, Reader& in, R& routing) {
  if (routing.groups > 1) {
    routing.groups_chosen = in.integer(own.key, 1, routing.groups);
  } else if (in.maybe_integer(own.key, 1, kMostGroups).value_or(1) > 1) {
    in.fail(own.key, "expected at most the number of \"groups\", which is 1");
  }
}
Value write_chosen(const R& routing) {
  return routing.groups > 1 ? Value(routing.groups_chosen) : Value();
}

constexpr std::array kRoutingFields = {
    fields::choice<&R::shape, kRoutingShapes>(
        "shape", "uniform: every choice as likely, at random; zipf; measured; or balanced"),
    fields::special<R, &R::exponent>("exponent",
                                     {read_exponent,
                                      [](const Field<R>& own) { return schema::number(own.range); },
                                      write_exponent},
                                     "of zipf: expert i is chosen in proportion to 1 / i^exponent")
        .within(kZipfExponents)
        .always_written(),
    fields::special<R, &R::histogram>(
        "histogram",
        {read_tokens,
         [](const Field<R>& /*own*/) { return schema::list_of(schema::number({})); },
         write_tokens},
        "of measured: tokens of each expert"),
    fields::number<&R::capacity_factor>(
        "capacity_factor", {0.01, 1000}, "tokens beyond it are dropped")
        .or_else("none is"),
    fields::integer<&R::capacity_multiple>(
        "capacity_multiple",
        {1, kMostTokens},
        "an expert's capacity for a group of tokens is rounded up to a multiple of it"),
    fields::flag<&R::padded>("padded", "experts compute all of their capacity")
        .read_by(read_padded),
    fields::integer<&R::dense_group>(
        "dense_group",
        {1, kMostTokens},
        "tokens go to their experts' places and back by products with masks of all places, for so "
        "many tokens at a time (GShard's einsums)")
        .or_else("they are copied")
        .read_by(read_dense_group),
    fields::flag<&R::random_second>("random_second", "the second expert is taken at random"),
    fields::number<&R::second_probability>(
        "second_probability", {0, 1}, "that a random second expert is taken with")
        .or_else("that of gates as they are initialised")
        .read_by(read_probability),
    fields::integer<&R::groups>("groups", {1, kMostGroups}, "experts are in so many"),
    fields::special<R, &R::groups_chosen>(
        "groups_chosen",
        {read_chosen,
         [](const Field<R>& /*own*/) { return schema::integer({1, kMostGroups}); },
         write_chosen},
        "of which a token goes to so many")
        .always_written()};

std::optional<std::string> shape_refusal(const Routing& routing,
                                         std::int64_t experts,
                                         std::int64_t per_token) {
  if (routing.random_second && per_token != 2) {
    return fmt::format("a random second expert needs two experts per token, there {} {}",
                       per_token == 1 ? "is" : "are",
                       per_token);
  }
  if (routing.shape != RoutingShape::measured) {
    return std::nullopt;
  }
  if (routing.histogram.size() != static_cast<std::size_t>(experts)) {
    return fmt::format(
        "the histogram has {} numbers for {} experts", routing.histogram.size(), experts);
  }
  double sum = 0;
  double largest = 0;
  for (const double tokens : routing.histogram) {
    sum += tokens;
    largest = std::max(largest, tokens);
  }
  constexpr double rounding = 1e-9;
  if (largest * static_cast<double>(per_token) > sum * (1 + rounding)) {
    return fmt::format(
        "an expert of the histogram has {:.3g} % of all choices, but {} different experts per "
        "token "
        "leave at most {:.3g} % for one",
        100 * largest / sum,
        per_token,
        100.0 / static_cast<double>(per_token));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refusal(const Routing& routing,
                                   std::int64_t experts,
                                   std::int64_t per_token,
                                   std::int64_t expert_ranks) {
  if (experts % expert_ranks != 0) {
    return fmt::format("{} ranks do not divide {} experts", expert_ranks, experts);
  }
  if (per_token > experts) {
    return fmt::format("a token cannot go to {} of {} experts", per_token, experts);
  }
  if (experts % routing.groups != 0) {
    return fmt::format("{} groups do not divide {} experts", routing.groups, experts);
  }
  const std::int64_t open = experts / routing.groups * routing.groups_chosen;
  if (open < per_token) {
    return fmt::format("{} of {} groups have {} experts, but a token goes to {}",
                       routing.groups_chosen,
                       routing.groups,
                       open,
                       per_token);
  }
  if (routing.groups_chosen > per_token) {
    return fmt::format(
        "a token with {} experts cannot go to {} groups of them", per_token, routing.groups_chosen);
  }
  if (routing.groups % expert_ranks != 0 && expert_ranks % routing.groups != 0) {
    return fmt::format(
        "neither do {} ranks divide the {} groups of experts, nor the groups the ranks",
        expert_ranks,
        routing.groups);
  }
  return shape_refusal(routing, experts, per_token);
}

std::span<const Field<Routing>> routing_fields() { return kRoutingFields; }

}  // namespace titer
