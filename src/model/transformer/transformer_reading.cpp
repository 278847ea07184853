#include "transformer_reading.hpp"

#include <algorithm>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

std::string at_most(std::string_view what, std::int64_t most) {
  return "expected " + std::string(what) + " of at most " + std::to_string(most);
}

}  // namespace

bool is_wrong(Reader& in, std::string_view key) {
  const Value* value = in.has(key) ? in.raw(key) : nullptr;
  if (value == nullptr) {
    return false;
  }
  const Value* figure = value->find("value");  // with its source
  const Value& number = figure != nullptr ? *figure : *value;
  return !number.is_integer || number.integer <= 0;
}

void read_widths(Reader& in, const ShapeKeys& keys, Transformer& model) {
  model.layers = in.integer(keys.layers, 1, kMostLayers);
  model.hidden = in.integer(keys.hidden, 1, kMostWidth);
  model.heads = keys.heads.empty() ? 0 : in.integer(keys.heads, 1, kMostWidth);
}

void read_grouped_heads(Reader& in,
                        const ShapeKeys& keys,
                        const GroupedHeads& otherwise,
                        Transformer& model) {
  const auto told = [&](std::string_view key, std::int64_t or_else) {
    const auto number = key.empty() ? std::nullopt : in.maybe_integer(key, 1, kMostWidth);
    return number.value_or(or_else);
  };
  model.kv_heads = told(keys.kv_heads, otherwise.kv_heads > 0 ? otherwise.kv_heads : model.heads);
  model.head_dim = told(keys.head_dim, otherwise.head_dim);
  if (model.head_dim == 0) {
    model.head_dim = std::max<std::int64_t>(1, model.hidden / model.heads);
    // A hidden size of 1 stands in for one that could not be read: no second complaint about it.
    if (model.hidden > 1 && model.hidden % model.heads != 0) {
      const std::string or_key =
          keys.head_dim.empty() ? "" : ", or a \"" + std::string(keys.head_dim) + "\"";
      in.fail(keys.heads,
              "expected a divisor of the hidden size " + std::to_string(model.hidden) + or_key);
    }
  } else if (model.query_width() > kMostWidth) {
    in.fail(keys.head_dim, at_most("heads x head_dim", kMostWidth));
  }
  const bool knows_heads = model.heads > 1 || (in.has(keys.heads) && !is_wrong(in, keys.heads));
  if (knows_heads && model.heads % model.kv_heads != 0) {
    in.fail(keys.kv_heads, "expected a divisor of the " + std::to_string(model.heads) + " heads");
  }
}

void read_latent(Reader& in, const LatentKeys& keys, Transformer& model) {
  LatentAttention latent;
  latent.q_rank = in.maybe_integer(keys.q_rank, 0, kMostWidth).value_or(0);
  latent.kv_rank = in.integer(keys.kv_rank, 1, kMostWidth);
  latent.nope_dim = in.integer(keys.nope_dim, 0, kMostWidth);
  latent.rope_dim = in.integer(keys.rope_dim, 1, kMostWidth);
  latent.value_dim =
      keys.value_otherwise > 0
          ? in.maybe_integer(keys.value_dim, 1, kMostWidth).value_or(keys.value_otherwise)
          : in.integer(keys.value_dim, 1, kMostWidth);
  model.kv_heads = model.heads;
  model.head_dim = latent.nope_dim + latent.rope_dim;
  if (model.query_width() > kMostWidth) {
    in.fail(keys.rope_dim, at_most("heads x their width", kMostWidth));
  }
  if (model.heads * latent.value_dim > kMostWidth) {
    in.fail(keys.value_dim, at_most("heads x their width", kMostWidth));
  }
  model.latent = latent;
}

void read_shared_head(Reader& in,
                      const SharedHeadKeys& keys,
                      std::int64_t head_dim,
                      Transformer& model) {
  SharedHead shared;
  shared.q_rank = in.integer(keys.q_rank, 1, kMostWidth);
  shared.rope_dim =
      keys.rope_otherwise > 0
          ? in.maybe_integer(keys.rope_dim, 0, kMostWidth).value_or(keys.rope_otherwise)
          : in.integer(keys.rope_dim, 0, kMostWidth);
  shared.output_groups = in.integer(keys.output_groups, 1, kMostWidth);
  shared.output_rank = in.integer(keys.output_rank, 1, kMostWidth);
  model.kv_heads = 1;
  model.head_dim = head_dim;
  model.shared_head = shared;
  if (model.query_width() > kMostWidth) {
    in.fail(keys.q_rank, at_most("heads x their width", kMostWidth));
  }
  if (head_dim > 1 && shared.rope_dim > head_dim) {
    in.fail(keys.rope_dim, at_most("columns", head_dim));
  }
  if (model.heads > 1 && model.heads % shared.output_groups != 0) {
    in.fail(keys.output_groups,
            "expected a divisor of the " + std::to_string(model.heads) + " heads");
  }
  if (shared.output_groups * shared.output_rank > kMostWidth) {
    in.fail(keys.output_rank, at_most("groups x their latents", kMostWidth));
  }
}

Experts read_experts(Reader& in, const ExpertKeys& keys) {
  Experts experts;
  experts.count = in.integer(keys.count, 1, kMostWidth);
  experts.per_token = in.integer(keys.per_token, 1, kMostWidth);
  experts.ffn = in.integer(keys.ffn, 1, kMostWidth);
  check_experts(in, keys, experts);
  return experts;
}

void check_experts(Reader& in, const ExpertKeys& keys, const Experts& experts) {
  if (experts.count > 1 && experts.per_token > experts.count) {
    in.fail(keys.per_token,
            "expected at most the " + std::to_string(experts.count) + " experts that there are");
  }
  if (experts.count * experts.ffn > kMostExpertWidth) {
    in.fail(keys.count, at_most("experts x their width", kMostExpertWidth));
  }
}

Value list_value(std::span<const std::int64_t> numbers) {
  Value list = Value::make_array();
  for (const std::int64_t number : numbers) {
    list.push(number);
  }
  return list;
}

void check_routing(Reader& in, std::string_view key, const Experts& experts) {
  if (experts.count == 1 || experts.per_token > experts.count) {
    return;  // stands in for a number that could not be read, or has been complained about
  }
  if (const auto why = refusal(experts.routing, experts.count, experts.per_token, 1)) {
    in.fail(key, *why);
  }
}

void check_mixer(Reader& in, std::string_view key, const Mixer& mixer) {
  // One head stands in for heads that could not be read.
  if (mixer.heads > 1 && mixer.heads % mixer.key_heads != 0) {
    in.fail(key,
            "expected heads of keys that divide the " + std::to_string(mixer.heads) +
                " heads of values");
  } else if (std::max(mixer.value_width(), mixer.key_width()) > kMostWidth) {
    in.fail(key, at_most("the mixer's heads x their width", kMostWidth));
  }
}

void check_indexer(Reader& in, std::string_view key, const Transformer& model) {
  if (!in.has(key)) {
    return;  // complained about already
  }
  if (!model.shared_head && (!model.latent || model.latent->q_rank == 0)) {
    in.fail(key, "expected latent attention with a latent of queries, which the indexer reads");
  }
  if (model.indexer->heads * model.indexer->head_dim > kMostWidth) {
    in.fail(key, at_most("the indexer's heads x their width", kMostWidth));
  }
}

bool has_few_kinds(const std::vector<KindRun>& runs) {
  std::vector<LayerKind> kinds;
  for (const KindRun& run : runs) {
    if (!includes(kinds, run.kind)) {
      kinds.push_back(run.kind);
    }
    if (kinds.size() > kMostKindsOfLayers) {
      return false;
    }
  }
  return true;
}

void set_layers(Transformer& model, const std::vector<KindRun>& runs) {
  model.kinds.clear();
  model.order.clear();
  for (const KindRun& run : runs) {
    const auto found = std::ranges::find(model.kinds, run.kind);
    const auto kind = static_cast<int>(found - model.kinds.begin());
    if (found == model.kinds.end()) {
      model.kinds.push_back(run.kind);
    }
    if (!model.order.empty() && model.order.back().kind == kind) {
      model.order.back().count += run.count;
    } else {
      model.order.push_back({.kind = kind, .count = run.count});
    }
  }
  if (model.kinds.empty()) {
    model.kinds.emplace_back();  // no run could be read
  }
}

void set_layers(Transformer& model, const std::vector<LayerKind>& layers) {
  set_layers(model, each_of(layers, [](const LayerKind& kind) { return KindRun{.kind = kind}; }));
}

}  // namespace titer
