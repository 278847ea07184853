// From a document, and what does not fit together in it.

#include <fmt/core.h>

#include <algorithm>

#include "titer/model/routing/routing.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostGroups = 256;
constexpr std::int64_t kMostExperts = 1'000'000;

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

void read_shape(Reader& in, Routing& routing) {
  constexpr double steepest = 10;
  routing.shape =
      in.maybe_choice<RoutingShape>("shape", kRoutingShapes).value_or(RoutingShape::uniform);
  if (routing.shape == RoutingShape::zipf) {
    routing.exponent = in.number("exponent", 0, steepest);
  } else if (in.maybe_number("exponent", 0, steepest)) {
    in.fail("exponent", "expected none: only the shape \"zipf\" has one");
  }
  if (routing.shape == RoutingShape::measured) {
    routing.histogram = read_histogram(in);
  } else if (in.raw("histogram") != nullptr) {
    in.fail("histogram", "expected none: only the shape \"measured\" has one");
  }
}

void read_capacity(Reader& in, Routing& routing) {
  routing.capacity_factor = in.maybe_number("capacity_factor", 0.01, 1000);
  routing.padded = in.flag("padded", false);
  if (routing.padded && !routing.capacity_factor) {
    in.fail("padded", "expected a \"capacity_factor\" to pad to");
  }
}

void read_second(Reader& in, Routing& routing) {
  routing.random_second = in.flag("random_second", false);
  routing.second_probability = in.maybe_number("second_probability", 0, 1);
  if (routing.second_probability && !routing.random_second) {
    in.fail("second_probability", "expected \"random_second\": true beside it");
  }
}

void read_groups(Reader& in, Routing& routing) {
  routing.groups = in.maybe_integer("groups", 1, kMostGroups).value_or(1);
  if (routing.groups > 1) {
    routing.groups_chosen = in.integer("groups_chosen", 1, routing.groups);
  } else if (in.maybe_integer("groups_chosen", 1, kMostGroups).value_or(1) > 1) {
    in.fail("groups_chosen", "expected at most the number of \"groups\", which is 1");
  }
}

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

Routing read_routing(Reader& in) {
  Routing routing;
  read_shape(in, routing);
  read_capacity(in, routing);
  read_second(in, routing);
  read_groups(in, routing);
  in.finish();
  return routing;
}

}  // namespace titer
