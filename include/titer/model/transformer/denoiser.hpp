#pragma once
// What makes of a transformer one that denoises images and films: patches of a latent in and out,
// and layers that are modulated by what conditions them.  [Peebles and Xie 2023, DiT]

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/model/transformer/tower.hpp"

namespace titer {

/// Who makes the vectors that shift, scale and gate the branches of a layer: a product of its own,
/// or one for all layers, to which each adds a table.  [DiT; Chen et al. 2023, PixArt-alpha]
enum class Modulation { layers, shared };
inline constexpr std::array<Choice<Modulation>, 2> kModulations = {
    {{"layers", Modulation::layers}, {"shared", Modulation::shared}}};

/// What an encoder that is not trained has made of a text. Layers with cross-attention attend to
/// it; without such layers its tokens are part of the sequences.
struct DenoiserText {
  std::int64_t tokens = 0;     // of each sequence
  std::int64_t width = 0;      // as they come
  std::int64_t products = 1;   // to the hidden size; of two with an activation between them
  std::optional<Norm> norm{};  // before cross-attention; otherwise the model's
  // Layers of its own tokens behind these, which attend to one another; the time step and the
  // text's mean gate their branches.  [Kong et al. 2024, HunyuanVideo]
  std::int64_t refiner_layers = 0;
  friend bool operator==(const DenoiserText&, const DenoiserText&) = default;
};

struct Denoiser {
  Patches patches{};  // sides in places of the latent
  std::int64_t output_channels = 0;
  // Columns of what else conditions a sequence, each by two products to the hidden size, an
  // activation between them: frequencies of the time step first, then a text as one, guidance.
  std::vector<std::int64_t> vectors{};
  std::int64_t classes = 0;  // rows of a table beside these
  Modulation modulation = Modulation::layers;
  std::optional<DenoiserText> text{};

  /// Numbers that a token returns.
  [[nodiscard]] std::int64_t outputs() const {
    return patches.frames * patches.side * patches.side * output_channels;
  }
};

/// Vectors of the hidden size of a layer: of each stream shift, scale and gate of its branches,
/// which parallel ones share; shift and scale alone of a text that goes no further.
[[nodiscard]] constexpr std::int64_t modulation_vectors(const LayerKind& kind) {
  const bool two = kind.tokens != TokenMixing::none && kind.mlp && !kind.parallel;
  const std::int64_t of_stream = two ? 6 : 3;
  return of_stream + (kind.two_streams ? (kind.text_ends ? 2 : of_stream) : 0);
}
/// Whether its tokens are among those of the sequences.
[[nodiscard]] bool joins_text(const Transformer& model);

/// What is in front of the layers, of one of them, and behind them; all of it on every rank.
[[nodiscard]] std::int64_t denoiser_input_parameters(const Transformer& model);
[[nodiscard]] std::int64_t modulation_parameters(const Transformer& model, const LayerKind& kind);
[[nodiscard]] std::int64_t denoiser_output_parameters(const Transformer& model);

/// Of all modulations, and of what is in front of and behind the layers.
[[nodiscard]] ForwardFlops denoiser_flops(const Transformer& model,
                                          double sequences,
                                          std::int64_t length);

/// Of the tokens of images and of texts where these are in the same sequences; of a text that
/// stands beside the sequences, which every rank has whole.
[[nodiscard]] Slice image_slice(const Transformer& model, const Slice& slice);
[[nodiscard]] Slice text_slice(const Transformer& model, const Slice& slice);

[[nodiscard]] Denoiser read_denoiser(Reader& in);
/// Refuses what no denoiser is, or is without being one. Called when all else has been read.
void check_denoiser(Reader& in, const Transformer& model);

}  // namespace titer
