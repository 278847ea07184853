// Which layers are of which kind, in this program's own keys.
#include <algorithm>

#include "transformer_reading.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<TokenMixing>, 3> kTokenMixings = {
    {{"attention", TokenMixing::attention},
     {"mixer", TokenMixing::mixer},
     {"none", TokenMixing::none}}};

void read_chunked(const Field<LayerKind>& own, Reader& in, LayerKind& kind) {
  const auto chunk = in.maybe_integer(own.key, 1, kMostTokens);
  if (kind.window && chunk) {
    in.fail(own.key, "expected no \"window\" beside it: attention is within one or the other");
  }
  kind.chunked = chunk.has_value();
  kind.window = chunk ? chunk : kind.window;
}
constexpr Range kTokenRange = {1, kMostTokens};
using K = LayerKind;
constexpr std::array kKindFields = {
    fields::flag<&K::experts>("experts", "in the place of an MLP"),
    fields::integer<&K::window>("window", kTokenRange, "tokens that a query sees, up to itself")
        .or_else("all")
        .where([](const K& kind) { return !kind.chunked; }),
    fields::special<K, &K::window, &K::chunked>(
        "chunk",
        {read_chunked,
         [](const Field<K>& /*own*/) { return schema::integer(kTokenRange); },
         [](const K& kind) { return kind.chunked ? Value(*kind.window) : Value(); }},
        "tokens of the parts of a sequence within which attention is")
        .or_else("all"),
    fields::integer<&K::entry_tokens>(
        "entry_tokens",
        {0, kMostTokens},
        "of a `shared_head`: tokens that an entry sums up, attended to beside the window; 0: no "
        "entries"),
    fields::flag<&K::picks_entries>("picks_entries",
                                    "of entries, which overlap, the indexer picks some"),
    fields::flag<&K::bidirectional>("bidirectional", "of an encoder: attention is not causal"),
    fields::flag<&K::cross_attention>("cross_attention",
                                      "attends to an encoder's or a tower's results, too"),
    fields::flag<&K::rotary>("rotary", "positions, where the model has rotary ones"),
    fields::choice<&K::tokens, kTokenMixings>("tokens", "what mixes them"),
    fields::flag<&K::mlp>("mlp", "or experts"),
    fields::flag<&K::parallel>("parallel", "attention and MLP read one norm and are added once"),
    fields::flag<&K::two_streams>("two_streams",
                                  "texts and images have weights of their own, and attend to all"),
    fields::flag<&K::text_ends>("text_ends",
                                "of two streams the text is attended to, and goes no further"),
    fields::flag<&K::first_values>(
        "first_values", "of RWKV-7: its values are mixed into those of the other layers")};

/// Branches that are beside one another, or there for texts and images each.
void check_branches(Reader& in, const LayerKind& kind) {
  const bool has_both = kind.tokens != TokenMixing::none && kind.mlp && !kind.cross_attention;
  if (kind.parallel && (!has_both || kind.experts || kind.two_streams)) {
    in.fail("parallel", "expected a layer of two branches, an MLP beside what mixes its tokens");
  }
  if (kind.two_streams && (!has_both || kind.tokens != TokenMixing::attention)) {
    in.fail("two_streams", "expected attention among its own tokens, and an MLP");
  }
  if (kind.text_ends && !kind.two_streams) {
    in.fail("text_ends", "expected \"two_streams\", of which the text is one");
  }
}

/// Of what attends to entries that several tokens make.
void check_entries(Reader& in, const LayerKind& kind) {
  if (kind.picks_entries && kind.entry_tokens == 0) {
    in.fail("picks_entries", "expected \"entry_tokens\" beside it, of which entries are made");
  }
  if (kind.entry_tokens > 0 && (kind.tokens != TokenMixing::attention || kind.chunked ||
                                kind.bidirectional || kind.cross_attention)) {
    in.fail("entry_tokens",
            "expected a layer of causal attention to its own tokens, not in chunks");
  }
}

/// What of a layer excludes what else is written of it.
void check_kind(Reader& in, const LayerKind& kind) {
  check_entries(in, kind);
  if (kind.tokens != TokenMixing::attention &&
      (kind.window || kind.bidirectional ||
       (kind.cross_attention && kind.tokens == TokenMixing::mixer))) {
    in.fail("tokens", "expected attention, since the layer says how it attends");
  }
  if (kind.first_values && kind.tokens != TokenMixing::mixer) {
    in.fail("first_values", "expected a layer whose tokens a mixer mixes");
  }
  if (!kind.mlp && (kind.experts || kind.tokens == TokenMixing::none)) {
    in.fail("mlp",
            kind.experts ? "expected no false beside experts, which are in its place"
                         : "expected a layer that has something in it");
  }
  check_branches(in, kind);
}

Value run_value(const LayerRun& run, const LayerKind& kind) {
  Value object = Value::make_object();
  object.add("count", run.count);
  write_keys(kind_fields(), kind, object);
  return object;
}

/// The fewest runs at the beginning that, repeated, make up all whole repetitions.
std::size_t period_of(const std::vector<LayerRun>& runs) {
  for (std::size_t period = 2; period <= runs.size() / 2; ++period) {
    const std::size_t whole = runs.size() / period * period;
    bool repeats = true;
    for (std::size_t i = period; i < whole && repeats; ++i) {
      repeats = runs[i] == runs[i % period];
    }
    if (repeats) {
      return period;
    }
  }
  return runs.size();
}

Value pattern_value(const Transformer& model) {
  const std::vector<LayerRun> runs = model.runs();
  const auto value_at = [&](std::size_t i) {
    return run_value(runs[i], model.kinds[static_cast<std::size_t>(runs[i].kind)]);
  };
  const std::size_t period = period_of(runs);
  const std::size_t repeats = runs.size() / period;
  Value list = Value::make_array();
  std::size_t next = 0;
  if (repeats > 1) {
    Value of = Value::make_array();
    for (; next < period; ++next) {
      of.push(value_at(next));
    }
    list.push(Value::make_object()
                  .add("repeat", static_cast<std::int64_t>(repeats))
                  .add("of", std::move(of)));
    next = repeats * period;
  }
  for (; next < runs.size(); ++next) {
    list.push(value_at(next));
  }
  return list;
}

}  // namespace

std::span<const Field<LayerKind>> kind_fields() { return kKindFields; }

LayerKind read_kind(Reader& in) {
  LayerKind kind;
  read_keys(kind_fields(), in, kind);
  check_kind(in, kind);
  return kind;
}

/// {"count": n, what is special about these layers}, or {"repeat": n, "of": [the same]}.
std::vector<KindRun> read_pattern(Reader& in, std::string_view key) {
  std::vector<KindRun> runs;
  for (Reader& part : in.objects(key)) {
    if (part.has("of")) {
      const std::int64_t times = part.integer("repeat", 1, kMostLayers);
      const std::vector<KindRun> inner = read_pattern(part, "of");
      // More than any model has are not told apart.
      for (std::int64_t i = 0; i < times && runs.size() <= kMostLayers; ++i) {
        runs.insert(runs.end(), inner.begin(), inner.end());
      }
      runs.resize(std::min<std::size_t>(runs.size(), kMostLayers + 1));
    } else {
      const std::int64_t count = part.maybe_integer("count", 1, kMostLayers).value_or(1);
      runs.push_back({.kind = read_kind(part), .count = count});
    }
    part.finish();
  }
  return runs;
}

Value write_pattern(const Transformer& model) {
  const LayerKind usual{.experts = model.experts.has_value()};
  return model.kinds == std::vector<LayerKind>{usual} ? Value() : pattern_value(model);
}

}  // namespace titer
