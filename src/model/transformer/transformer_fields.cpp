// The keys of a transformer's file, each stated once: how it is read and written, what it means.
#include "titer/model/transformer/denoiser.hpp"
#include "titer/model/transformer/transformer_document.hpp"
#include "transformer_reading.hpp"

namespace titer {
namespace {

using T = Transformer;
constexpr Range kWidth = {1, kMostWidth};
constexpr Range kFrom0 = {0, kMostWidth};
constexpr Range kTokens = {1, kMostTokens};
constexpr Range kRows = {0, kMostTokens};

/// For keys that are read with others, which tell what they are where they are left out.
template <class O>
void read_with_others(const Field<O>& /*own*/, Reader& /*in*/, O& /*object*/) {}

using L = LatentAttention;
constexpr std::array kLatentFields = {
    fields::integer<&L::q_rank>("q_rank", kFrom0, "columns of the latent of queries; 0: none"),
    fields::integer<&L::kv_rank>("kv_rank", kWidth, "columns of the latent of keys and values")
        .needed(),
    fields::integer<&L::nope_dim>("nope_dim", kFrom0, "columns of a head without positions")
        .needed(),
    fields::integer<&L::rope_dim>("rope_dim", kWidth, "columns of a head with rotary positions")
        .needed(),
    fields::integer<&L::value_dim>("value_dim", kWidth, "columns of a value").needed()};
std::span<const Field<L>> latent_fields() { return kLatentFields; }

using S = SharedHead;
constexpr std::array kSharedFields = {
    fields::integer<&S::q_rank>("q_rank", kWidth, "columns of the latent of queries").needed(),
    fields::integer<&S::rope_dim>("rope_dim", kFrom0, "columns of a head with rotary positions")
        .needed(),
    fields::integer<&S::output_groups>(
        "output_groups", kWidth, "of heads, whose results each have a latent")
        .needed(),
    fields::integer<&S::output_rank>("output_rank", kWidth, "columns of each of these").needed()};
std::span<const Field<S>> shared_fields() { return kSharedFields; }

constexpr std::array kIndexerFields = {
    fields::integer<&Indexer::heads>("heads", kWidth, "of its queries").needed(),
    fields::integer<&Indexer::head_dim>("head_dim", kWidth, "columns of each").needed(),
    fields::integer<&Indexer::top_k>("top_k", kTokens, "tokens that a query attends to").needed()};
std::span<const Field<Indexer>> indexer_fields() { return kIndexerFields; }

void read_expert_routing(const Field<Experts>& own, Reader& in, Experts& experts) {
  if (auto object = in.maybe_object(own.key)) {
    read_fields(routing_fields(), *object, experts.routing);
    check_routing(*object, "", experts);
  }
}
constexpr std::array kExpertFields = {
    fields::integer<&Experts::count>("count", kWidth, "experts of a layer").needed(),
    fields::integer<&Experts::per_token>("per_token", kWidth, "that a token goes to").needed(),
    fields::integer<&Experts::ffn>("ffn", kWidth, "width of one").needed(),
    fields::integer<&Experts::latent>(
        "latent",
        kFrom0,
        "width that tokens are projected to before they go to their experts; 0: their own"),
    fields::integer<&Experts::shared_ffn>(
        "shared_ffn", kFrom0, "width of those that every token goes through, together"),
    fields::flag<&Experts::shared_gate>("shared_gate", "a gate weighs what these return"),
    fields::flag<&Experts::router_bias>("router_bias", "a parameter per expert in the router"),
    fields::object<&Experts::routing, routing_fields>("routing",
                                                      "how the router spreads tokens over them")
        .read_by(read_expert_routing)};
std::span<const Field<Experts>> expert_fields() { return kExpertFields; }

void read_all_experts(const Field<T>& own, Reader& in, T& model) {
  if (auto object = in.maybe_object(own.key)) {
    Experts& experts = model.experts.emplace();
    read_keys(expert_fields(), *object, experts);
    check_experts(*object, {.count = "count", .per_token = "per_token", .ffn = "ffn"}, experts);
    object->finish();
  }
}

using B = Biases;
constexpr std::array kBiasFields = {fields::flag<&B::qkv>("qkv", "of queries, keys and values"),
                                    fields::flag<&B::output>("output", "of attention's output"),
                                    fields::flag<&B::mlp>("mlp", "of the MLP"),
                                    fields::flag<&B::head>("head", "of the output matrix"),
                                    fields::flag<&B::keyless>("keyless", "keys have none")};
std::span<const Field<B>> bias_fields() { return kBiasFields; }

/// true or false for all linear layers but the output matrix, or one by one.
void read_biases(const Field<T>& own, Reader& in, T& model) {
  const Value* written = in.raw(own.key);
  if (written != nullptr && written->kind == Value::Kind::object) {
    Reader each = in.object(own.key);
    read_fields(bias_fields(), each, model.biases);
    return;
  }
  const bool all = in.flag(own.key, model.norm == Norm::layernorm);
  model.biases = {.qkv = all, .output = all, .mlp = all};
}
Value write_biases(const T& model) {
  const bool all = model.biases.qkv;
  return model.biases == B{.qkv = all, .output = all, .mlp = all}
             ? Value(all)
             : write_fields(bias_fields(), model.biases);
}
Value biases_schema(const Field<T>& /*own*/) {
  return schema::either({schema::flag(), schema_of(bias_fields())});
}

bool has_heads(const T& model) { return model.heads > 0 && !model.latent; }
bool has_kv_heads(const T& model) { return has_heads(model) && !model.shared_head; }

constexpr std::array kStackFields = {
    fields::integer<&T::layers>("layers", {1, kMostLayers}, "how many")
        .needed()
        .read_by(read_with_others),
    fields::integer<&T::hidden>("hidden", kWidth, "columns of a token between layers")
        .needed()
        .read_by(read_with_others),
    fields::integer<&T::heads>("heads", kWidth, "of queries")
        .or_else("none: no layer has attention")
        .read_by(read_with_others),
    fields::object<&T::latent, latent_fields>("latent_attention",
                                              "queries, keys and values are made of narrow latents")
        .read_by(read_with_others),
    fields::object<&T::shared_head, shared_fields>(
        "shared_head", "one head is key and value of all, queries are made of a latent")
        .read_by(read_with_others),
    fields::integer<&T::kv_heads>("kv_heads", kWidth, "of keys and values")
        .or_else("as many as `heads`")
        .read_by(read_with_others)
        .where(has_kv_heads),
    fields::integer<&T::head_dim>("head_dim", kWidth, "columns of a head")
        .or_else("its share of the hidden size")
        .read_by(read_with_others)
        .where(has_heads),
    fields::integer<&T::ffn>("ffn", kWidth, "width of the MLP of layers without experts")
        .or_else("none: no layer has one")
        .read_by(read_with_others),
    fields::flag<&T::gated>("gated", "three matrices in the MLP, not two").always_written(),
    fields::integer<&T::activation_parameters>(
        "activation_parameters", kFrom0, "numbers that the MLP's activation learns"),
    fields::choice<&T::norm, kNorms>("norm", "its type").needed(),
    fields::special<T, &T::biases>(
        "bias", {read_biases, biases_schema, write_biases}, "which linear layers have one")
        .or_else("all but the output matrix where the norm is `layernorm`, else none")
        .always_written(),
    fields::integer<&T::norms>("norms",
                               {1, 4},
                               "of a layer: 2, 4 with ones behind attention and MLP too, or 1 that "
                               "both read"),
    fields::flag<&T::parallel>("parallel", "attention and MLP read the same norm"),
    fields::choice<&T::norm_place, kNormPlaces>(
        "norm_place",
        "of two norms: at the input of attention and MLP, at their output, or behind the sum"),
    fields::flag<&T::qk_norm>("qk_norm", "a norm of queries and keys"),
    fields::choice<&T::qk_norm_of, kQkNorms>(
        "qk_norm_of", "what it is over: a head, with weights that all share or each has, or all"),
    fields::choice<&T::qk_norm_type, kNorms>("qk_norm_type", "its type").or_else("that of `norm`"),
    fields::flag<&T::embedding_norm>("embedding_norm", "a norm behind the embedding"),
    fields::flag<&T::final_norm>("final_norm", "a norm behind the last layer"),
    fields::flag<&T::head_transform>(
        "head_transform", "a product, an activation and a norm before the output matrix"),
    fields::flag<&T::encoder_ends>("encoder_ends",
                                   "positions and the two norms are there for the encoder, too"),
    fields::flag<&T::clamped>("clamped", "gate and up are clamped before they are multiplied"),
    fields::flag<&T::sinks>("sinks", "a parameter per head in the softmax's denominator"),
    fields::flag<&T::attention_gate>(
        "attention_gate",
        "what the heads return is weighed by a gate as wide, made beside the queries"),
    fields::integer<&T::streams>("streams",
                                 {1, 64},
                                 "hidden states that layers hand on, mixed before and behind each "
                                 "branch (hyper-connections)"),
    fields::flag<&T::dropout>("dropout", "behind attention, MLP and embedding")
        .or_else("`false`")
        .always_written(),
    fields::choice<&T::positions, kPositions>(
        "positions", "how layers tell them; `relative`: by a number per head and distance")
        .needed()};

void read_vocabulary(const Field<T>& own, Reader& in, T& model) {
  model.vocabulary = in.has("denoiser") ? 0 : in.integer(own.key, 1, kMostTokens);
}
bool has_vocabulary(const T& model) { return model.denoiser == nullptr; }

void read_position_rows(const Field<T>& own, Reader& in, T& model) {
  model.position_rows = in.maybe_integer(own.key, 1, kMostTokens).value_or(model.max_sequence);
}
bool has_position_rows(const T& model) {
  return model.position_rows != model.max_sequence &&
         (model.positions == Positions::learned || model.positions == Positions::relative);
}

void read_causal(const Field<T>& own, Reader& in, T& model) {
  model.causal = in.flag(own.key, !in.has("denoiser"));
}
Value write_causal(const T& model) {
  return model.causal == has_vocabulary(model) ? Value() : Value(model.causal);
}

void read_predicted_layer(const Field<T>& own, Reader& in, T& model) {
  if (auto object = in.maybe_object(own.key)) {
    model.predicted_layer = read_kind(*object);
    object->finish();
  }
}
Value write_predicted_layer(const T& model) {
  return model.predicted_layer ? write_fields(kind_fields(), *model.predicted_layer) : Value();
}

Value pattern_schema(const Field<T>& /*own*/) {
  const auto runs = [] {
    Value run = schema::object();
    schema::add_key(run,
                    {.key = "count",
                     .about = "layers of this kind in a row",
                     .written = schema::integer({1, kMostLayers}),
                     .usual = Value(1)});
    add_keys(kind_fields(), run);
    return run;
  };
  // A run, or what repeats runs; those of the innermost may be either, too.
  const auto repeated = [](Value run, Value of) {
    const auto add = [&](std::string_view key, std::string_view about, Value written) {
      schema::add_key(run, {.key = key, .about = about, .written = std::move(written)});
    };
    add("repeat",
        "how often what `of` lists comes, in place of all else",
        schema::integer({1, kMostLayers}));
    add("of", "runs of layers that are repeated, or repeat others", schema::list_of(std::move(of)));
    return run;
  };
  Value run = repeated(runs(), repeated(runs(), Value::make_object().add("type", Value("object"))));
  return schema::list_of(std::move(run));
}

constexpr Field<T> kPattern =
    fields::special<T, &T::kinds, &T::order>("pattern",
                                             {read_with_others<T>, pattern_schema, write_pattern},
                                             "which layer is of which kind, in order")
        .or_else("all alike")
        .always_written();

constexpr std::array kModelFields = {
    fields::flag<&T::tied_embeddings>("tied_embeddings", "the output matrix is the table of tokens")
        .or_else("`false`")
        .always_written()
        .where(has_vocabulary),
    fields::integer<&T::vocabulary>("vocabulary", kTokens, "rows of the table of tokens")
        .read_by(read_vocabulary)
        .or_else("needed, but with a `denoiser`")
        .where(has_vocabulary),
    fields::integer<&T::vocabulary_multiple>(
        "vocabulary_multiple",
        {1, 1e6},
        "the table has a multiple of this times `plan.tensor` rows"),
    fields::integer<&T::max_sequence>("max_sequence", kTokens, "the model's longest").needed(),
    fields::integer<&T::position_rows>("position_rows", kTokens, "of a table of positions")
        .read_by(read_position_rows)
        .or_else("`max_sequence`")
        .where(has_position_rows),
    fields::integer<&T::token_types>("token_types", kRows, "rows of a table of them"),
    fields::integer<&T::input_rows>(
        "input_rows", kRows, "further rows of the table of tokens, that no logit is of"),
    fields::choice<&T::attention, kAttentionKernels>("attention", "its kernels").needed(),
    fields::special<T, &T::causal>(
        "causal",
        {read_causal, [](const Field<T>& /*own*/) { return schema::flag(); }, write_causal},
        "tokens attend to those before them only")
        .or_else("true, but with a `denoiser`")
        .always_written(),
    fields::integer<&T::predicted_tokens>(
        "predicted_tokens", {0, kMostPredictedTokens}, "modules for further tokens"),
    fields::flag<&T::predicted_by_one>("predicted_by_one", "one module predicts them all in turn"),
    fields::special<T, &T::predicted_layer>(
        "predicted_layer",
        {read_predicted_layer,
         [](const Field<T>& /*own*/) { return schema_of(kind_fields()); },
         write_predicted_layer},
        "the layer that each module has")
        .or_else("one as the last"),
    fields::object<&T::indexer, indexer_fields>(
        "indexer", "a small attention that picks the tokens that each query attends to"),
    fields::object<&T::experts, expert_fields>("experts", "of layers").read_by(read_all_experts),
    fields::object<&T::mixer, mixer_fields>("mixer", "of tokens, in place of attention")
        .read_by(read_mixer),
    kPattern,
    fields::special<T, &T::tower>(
        "tower",
        {read_with_others<T>,
         [](const Field<T>& /*own*/) { return tower_schema(); },
         [](const T& model) { return model.tower ? tower_document(*model.tower) : Value(); }},
        "an encoder of images or sounds in front of the layers"),
    fields::special<T, &T::denoiser>(
        "denoiser",
        {read_with_others<T>,
         [](const Field<T>& /*own*/) { return denoiser_schema(); },
         [](const T& model) {
           return model.denoiser ? denoiser_document(*model.denoiser) : Value();
         }},
        "in the place of `vocabulary`: patches of a latent in and out, layers modulated by what "
        "conditions them")};

// What of a tower's encoder is at its ends.
constexpr std::array kEncoderFields = {
    fields::special<T, &T::causal>(
        "causal",
        {[](const Field<T>& own, Reader& in, T& model) { model.causal = in.flag(own.key, false); },
         [](const Field<T>& /*own*/) { return schema::flag(); },
         [](const T& model) { return model.causal ? Value(true) : Value(); }},
        "tokens attend to those before them only")
        .or_else("`false`")
        .always_written(),
    fields::integer<&T::position_rows>(
        "position_rows", kTokens, "of a table of positions, where they are `learned`")
        .needed()
        .or_else("required there")
        .where([](const T& model) { return model.positions == Positions::learned; }),
    kPattern};

std::array<std::span<const Field<Transformer>>, 3> all_fields() {
  return {kNameFields<Transformer>, stack_fields(), model_fields()};
}

}  // namespace

std::span<const Field<Transformer>> stack_fields() { return kStackFields; }
std::span<const Field<Transformer>> model_fields() { return kModelFields; }
std::span<const Field<Transformer>> encoder_fields() { return kEncoderFields; }

Value transformer_document(const Transformer& model) {
  Value object = Value::make_object();
  for (const auto& table : all_fields()) {
    write_keys(table, model, object);
  }
  return object;
}

Value transformer_schema() {
  Value object = schema::object();
  for (const auto& table : all_fields()) {
    add_keys(table, object);
  }
  return object;
}

}  // namespace titer
