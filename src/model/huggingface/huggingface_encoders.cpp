// Encoders that learn from masked words, encoders with decoders behind them, and decoders that
// attend to images and sounds.
#include <algorithm>
#include <memory>

#include "huggingface_families.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer::huggingface {
/// Token types, a norm behind the embedding, and a product before the output matrix, with which
/// masked words are told. The last norm of the last layer is the final one.
void read_masked_words(Reader& in, Transformer& model, LayerKinds& /*kinds*/) {
  model.causal = false;
  model.embedding_norm = true;
  model.final_norm = false;
  model.head_transform = true;
  model.token_types = in.maybe_integer("type_vocab_size", 1, kMostTokens).value_or(2);
  if (in.maybe_text("position_embedding_type").value_or("absolute") != "absolute") {
    in.fail("position_embedding_type",
            "expected \"absolute\": there are no others of encoders yet");
  }
  if (in.flag("is_decoder", false)) {
    in.fail("is_decoder", "expected false: as a decoder it is another model");
  }
}

/// Two rows of the table of positions are in front of the first token's.
void read_roberta(Reader& in, Transformer& model, LayerKinds& kinds) {
  read_masked_words(in, model, kinds);
  model.max_sequence = std::max<std::int64_t>(1, model.max_sequence - 2);
}

namespace {

/// The encoder's layers, and the decoder's behind them.
void stack(Transformer& model, std::int64_t encoders, std::int64_t decoders) {
  model.layers = encoders + decoders;
  set_layers(model,
             {{.kind = {.bidirectional = true}, .count = encoders},
              {.kind = {.cross_attention = true}, .count = decoders}});
  model.encoder_ends = true;
}

/// What the two classes of T5's shape take for keys that a file leaves out.
struct T5 {
  bool tied = true;
  std::string_view mlp = "relu";
};

void read_t5_as(Reader& in, const T5& otherwise, Transformer& model) {
  const ShapeKeys keys = {.layers = "num_layers",
                          .hidden = "d_model",
                          .heads = "num_heads",
                          .kv_heads = "",
                          .head_dim = "d_kv"};
  read_shape(in,
             {.shape = keys, .ffn = "d_ff", .max_sequence = "n_positions"},
             {.tied = otherwise.tied, .dropout = true, .max_sequence = 512},
             model);
  read_heads(in, keys, {.head_dim = 64}, model);
  const std::string mlp = in.maybe_text("feed_forward_proj").value_or(std::string(otherwise.mlp));
  model.gated = mlp.starts_with("gated-");
  model.norm = Norm::rmsnorm;
  model.positions = Positions::relative;
  model.position_rows =
      in.maybe_integer("relative_attention_num_buckets", 1, kMostTokens).value_or(32);
  stack(model,
        model.layers,
        in.maybe_integer("num_decoder_layers", 1, kMostLayers).value_or(model.layers));
}

}  // namespace

void read_t5(Reader& in, Transformer& model) { read_t5_as(in, {}, model); }

void read_mt5(Reader& in, Transformer& model) {
  read_t5_as(in, {.tied = false, .mlp = "gated-gelu"}, model);
}

void read_bart(Reader& in, Transformer& model) {
  const ShapeKeys keys = {.layers = "encoder_layers",
                          .hidden = "d_model",
                          .heads = "encoder_attention_heads",
                          .kv_heads = "",
                          .head_dim = ""};
  read_shape(in,
             {.shape = keys, .ffn = "encoder_ffn_dim"},
             {.tied = true, .dropout = true, .max_sequence = 1024},
             model);
  read_heads(in, keys, {}, model);
  model.norm = Norm::layernorm;
  model.norm_place = NormPlace::sum;
  model.biases = {.qkv = true, .output = true, .mlp = true, .head = false};
  model.positions = Positions::learned;
  model.position_rows = model.max_sequence + 2;
  model.embedding_norm = true;
  model.final_norm = false;
  for (const auto& [key, same] :
       {std::pair{"decoder_attention_heads", model.heads}, {"decoder_ffn_dim", model.ffn}}) {
    if (in.maybe_integer(key, 1, kMostWidth).value_or(same) != same) {
      in.fail(key,
              "expected the encoder's " + std::to_string(same) +
                  ": there are no decoders of other widths yet");
    }
  }
  static_cast<void>(in.raw("num_hidden_layers"));  // the encoder's once more
  stack(model,
        model.layers,
        in.maybe_integer("decoder_layers", 1, kMostLayers).value_or(model.layers));
}

/// Layers of cross-attention alone are among those with attention.  [Llama 3 2024, section 7.2]
void read_mllama(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 8, .max_sequence = 131072}, model);
  model.input_rows = 8;  // of places for images
  LayerKinds kinds = all_layers(model);
  for (const std::int64_t layer : integers(in, "cross_attention_layers")) {
    if (layer < 0 || layer >= model.layers) {
      in.fail("cross_attention_layers",
              "expected numbers of the " + std::to_string(model.layers) + " layers, from 0");
      return;
    }
    kinds[static_cast<std::size_t>(layer)] = {.cross_attention = true, .tokens = TokenMixing::none};
  }
  set_layers(model, kinds);
}

/// A spectrum's convolutions and layers, whose results all layers of the decoder attend to.
/// [Radford 2022]
void read_whisper(Reader& in, Transformer& model) {
  read_shape(in,
             {.shape = {.layers = "decoder_layers",
                        .hidden = "d_model",
                        .heads = "decoder_attention_heads",
                        .kv_heads = "",
                        .head_dim = ""},
              .ffn = "decoder_ffn_dim",
              .max_sequence = "max_target_positions"},
             {.tied = true, .dropout = false, .max_sequence = 448},
             model);
  read_heads(in, heads_by("decoder_attention_heads"), {}, model);
  model.norm = Norm::layernorm;
  model.biases = kAll;
  model.biases.keyless = true;
  model.positions = Positions::learned;
  model.position_rows = model.max_sequence;
  set_layers(model, {{.kind = {.cross_attention = true}, .count = model.layers}});

  Tower tower;
  tower.encoder = model;
  tower.encoder.name = "tower";
  tower.encoder.layers = in.integer("encoder_layers", 1, kMostLayers);
  tower.encoder.heads = in.integer("encoder_attention_heads", 1, kMostWidth);
  read_grouped_heads(in, heads_by("encoder_attention_heads"), {}, tower.encoder);
  tower.encoder.ffn = in.integer("encoder_ffn_dim", 1, kMostWidth);
  tower.encoder.causal = false;
  tower.encoder.vocabulary = 0;
  tower.spectra =
      Spectra{.bins = in.maybe_integer("num_mel_bins", 1, kMostWidth).value_or(80),
              .length = in.maybe_integer("max_source_positions", 1, kMostTokens).value_or(1500)};
  tower.encoder.position_rows = tower.spectra->length;
  tower.attended = Attended::plain;
  set_layers(tower.encoder, all_layers(tower.encoder));
  model.tower = std::make_shared<const Tower>(std::move(tower));
  static_cast<void>(in.raw("num_hidden_layers"));  // the encoder's once more
}

}  // namespace titer::huggingface
