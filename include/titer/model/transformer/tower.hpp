#pragma once
// What stands in front of a language model: an encoder of images or sounds with layers of its own,
// and what makes of its results that which the language model reads.
//
// All of it is on the first stage of a pipeline, in front of the language layers there. Its ranks
// split matrices as those of the language model do; they split neither images nor their tokens.
// [Megatron-LM, pretrain_vlm.py: no sequence or context parallelism of the vision model]

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/model/blocks.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

/// Images are cut into squares, each multiplied to a hidden state.
struct Patches {
  std::int64_t side = 0;  // pixels
  std::int64_t channels = 3;
  std::int64_t frames = 1;  // of a film that are one patch; an image is repeated
  bool bias = false;

  [[nodiscard]] std::int64_t inputs() const { return frames * channels * side * side; }
  friend bool operator==(const Patches&, const Patches&) = default;
};

/// Spectra of a sound, one after the other: a convolution over time, and one that takes every
/// second step.  [Radford 2022: Whisper]
struct Spectra {
  std::int64_t bins = 0;
  std::int64_t taps = 3;
  std::int64_t length = 0;  // steps behind the second convolution
  friend bool operator==(const Spectra&, const Spectra&) = default;
};

/// From the encoder's results to what the language model reads: squares of patches joined to one
/// token, a norm, products with activations between them.
struct Projector {
  std::int64_t side = 1;  // patches along each side of such a square
  bool mean = false;      // of its patches; else they are put side by side
  std::optional<Norm> norm{};
  bool norm_joined = false;            // of all that is side by side, else of each patch
  std::vector<std::int64_t> widths{};  // of the products' results; none: no product
  bool bias = false;
  friend bool operator==(const Projector&, const Projector&) = default;
};

/// How the language model gets at what the projector returns: as tokens of its sequences, or by
/// cross-attention to it, weighed by gates and with norms of queries and keys or without.
enum class Attended { no, plain, gated };
inline constexpr std::array<Choice<Attended>, 3> kAttended = {
    {{"no", Attended::no}, {"plain", Attended::plain}, {"gated", Attended::gated}}};

struct Tower {
  Transformer encoder;  // its layers, and norms in front of and behind them
  Patches patches{};
  std::optional<Spectra> spectra{};   // a tower of sounds: no patches
  std::int64_t image = 0;             // pixels along a side that its positions are for; 0: any
  bool class_token = false;           // a token beside the patches of an image
  bool keeps_class = false;           // goes to the language model, too
  std::int64_t tiles = 1;             // that an image is cut into, which attend to one another
  std::int64_t table_parameters = 0;  // of tiles' places, and single numbers
  std::int64_t states = 1;  // results of so many layers side by side are what is projected
  Projector projector{};
  std::int64_t deep = 0;  // layers whose results are projected, too, with a norm of what is joined
  Attended attended = Attended::no;
};

/// How many tokens an image makes: those of the encoder, and what is left of them for the language
/// model.
struct TowerTokens {
  std::int64_t encoded = 0;
  std::int64_t returned = 0;
};
[[nodiscard]] TowerTokens tokens_of(const Tower& tower, const Images& images);

/// The parts of a tower, in order: what makes hidden states of an input; layers; what is behind.
[[nodiscard]] std::int64_t input_parameters(const Tower& tower);
[[nodiscard]] ParameterCount projector_parameters(const Tower& tower);
/// Of all of it.
[[nodiscard]] ParameterCount tower_parameters(const Tower& tower);

/// Of so many sequences with their images.
[[nodiscard]] ForwardFlops forward_flops(const Tower& tower,
                                         double sequences,
                                         const Images& images);

/// Puts the tower's blocks in front of the layers of the language model behind it.
void add_tower(const Tower& tower, const Slice& slice, ModelBlocks& into);

/// Of the language model's cross-attention to the images of a micro-batch, which every rank has
/// whole.
[[nodiscard]] Slice attended_slice(const Tower& tower, const Slice& slice);

[[nodiscard]] Tower read_tower(Reader& in, std::int64_t language_width);

}  // namespace titer
