#include "titer/plan/plan.hpp"

#include <algorithm>

#include "plan/place/rank_order.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

struct DimensionName {
  std::string_view name;
  std::optional<Dimension> dimension;  // ep: experts lie within the others
};
constexpr std::array<DimensionName, 5> kDimensionNames = {{{"tp", Dimension::tensor},
                                                           {"cp", Dimension::context},
                                                           {"ep", std::nullopt},
                                                           {"dp", Dimension::data},
                                                           {"pp", Dimension::pipeline}}};

struct RankOrder {
  std::array<Dimension, kDimensions> order{};
  bool experts_inside = true;  // ep is between tp and dp, if it is there
};

/// Splits "tp-cp-ep-dp-pp"; empty when a name is unknown or repeated, or tp, dp or pp is missing.
/// Without cp, that comes after tp.
std::optional<RankOrder> parse_rank_order(std::string_view text) {
  std::vector<Dimension> order;
  std::vector<std::string_view> seen;
  for (const std::string_view word : divided(text, "-")) {
    const auto* known = std::ranges::find(kDimensionNames, word, &DimensionName::name);
    if (known == kDimensionNames.end() || includes(seen, word)) {
      return std::nullopt;
    }
    seen.push_back(word);
    if (known->dimension) {
      order.push_back(*known->dimension);
    }
  }
  if (!includes(order, Dimension::context)) {
    const auto tensor = std::ranges::find(order, Dimension::tensor);
    order.insert(tensor == order.end() ? tensor : tensor + 1, Dimension::context);
  }
  if (order.size() != kDimensions) {
    return std::nullopt;
  }
  const auto place_of = [&](std::string_view word) {
    return std::ranges::find(seen, word) - seen.begin();
  };
  const auto experts = place_of("ep");
  RankOrder result;
  result.experts_inside =
      experts == std::ssize(seen) || (place_of("tp") < experts && experts < place_of("dp"));
  std::ranges::copy(order, result.order.begin());
  return result;
}

}  // namespace

std::int64_t Plan::degree(Dimension dimension) const {
  switch (dimension) {
    case Dimension::tensor:
      return tensor;
    case Dimension::context:
      return context;
    case Dimension::data:
      return data;
    case Dimension::pipeline:
      return pipeline;
  }
  return 1;
}

Modules Plan::recomputed_modules() const {
  return recompute == Recompute::selective ? bit(Module::core_attention) : recomputed;
}

void read_rank_order(const Field<Plan>& own, Reader& in, Plan& plan) {
  const auto text = in.maybe_text(own.key);
  if (!text) {
    return;
  }
  const auto order = parse_rank_order(*text);
  if (!order) {
    in.fail(own.key,
            "expected tp, dp and pp, and cp if there is one, in some order, joined by dashes, such "
            "as \"tp-cp-dp-pp\"");
    return;
  }
  if (plan.expert > 1 && !order->experts_inside) {
    in.fail(own.key,
            "expected ep between tp and dp: experts are on neighbouring ranks of a pipeline rank, "
            "and their replicas further apart");
  }
  plan.rank_order = order->order;
}

/// With cp even where there is only one rank of it: one name for one order.
Value write_rank_order(const Plan& plan) {
  Plan named;
  named.rank_order = plan.rank_order;
  named.context = 2;
  return rank_order_name(named);
}

std::string rank_order_name(const Plan& plan) {
  std::string text;
  const auto add = [&](std::string_view word) {
    text += text.empty() ? "" : "-";
    text += word;
  };
  for (const Dimension dimension : plan.rank_order) {
    const auto* const known =
        std::ranges::find(kDimensionNames, dimension, &DimensionName::dimension);
    if (dimension == Dimension::data && plan.expert > 1) {
      add("ep");
    }
    if (dimension != Dimension::context || plan.context > 1) {
      add(known->name);
    }
  }
  return text;
}

}  // namespace titer
