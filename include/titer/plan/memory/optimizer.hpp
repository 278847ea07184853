#pragma once
// What training keeps and moves of every parameter: the optimizer's rule, and the types of tensors.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "titer/hardware/data_type.hpp"
#include "titer/input/choice.hpp"

namespace titer {

/// Memory traffic of one update beyond the weights' own: how often the gradient is read, and fp32
/// numbers read and written per parameter where every step of the rule is a pass over memory.
struct OptimizerPasses {
  double gradient_reads = 1;
  double numbers = 0;
  int kernels = 1;
  friend bool operator==(const OptimizerPasses&, const OptimizerPasses&) = default;
};

/// What is kept and multiplied of the two sides of a gradient G, n x m: sums of G G' and G' G, and
/// what is made of each, in fp32.
struct Preconditioner {
  double most = 0;         // rows or columns
  bool in_blocks = false;  // larger matrices are cut into blocks; otherwise a longer side has none
  double products = 0;     // of G with each side in a step, the sums' own among them
  double cubes = 0;        // FLOPs over n^3 of what is made of a side's sums,
  double every = 1;        // once in so many steps
  friend bool operator==(const Preconditioner&, const Preconditioner&) = default;
};

/// The optimizer's state per parameter, and what one step reads and writes of it.
///
/// Fused, one kernel reads the gradient, reads and writes weights and states. Otherwise each step
/// of the rule is a kernel over all parameters, as torch's foreach functions are:
///   Adam: m lerp 2+g (of m: read, write), v mul 2, v addcmul 2+g, sqrt 2, div 2, add 2, addcdiv 4
///   SGD with momentum: mul 2, add 2+g, update 3; plain: 1 read and write with g
///   Adafactor: square 1+g, means over rows and columns 2, estimate 1, scale 2+g, norm 1, clip 2,
///   update 3
///   Lion: scaled m 2, add 2+g, sign 2, update 3, m lerp 2+g
///   LAMB: as Adam up to its division, update 3, two norms 1 each, add 3
/// (numbers; g: the gradient). LAMB's fused kernels are four: the update, norms of weights and
/// update, and its addition, scaled; they read weights twice and the update, written once, twice
/// more.
struct OptimizerRule {
  std::string_view name;
  double state_bytes = 0;  // fp32 moments; the fp32 copy of low-precision weights comes on top
  // The second moment of an n x m matrix is kept as n + m numbers instead of n m.
  // [Shazeer & Stern 2018]
  bool factored = false;
  bool quantised = false;      // the states' bytes are what they are, whatever other types are
  bool whole_tensors = false;  // each rank needs all of a tensor that it updates
  // Of matrices of hidden layers one moment is kept, and what is added to the weights is
  // orthogonalised. [Jordan et al. 2024]
  bool orthogonal = false;
  std::optional<Preconditioner> preconditioner{};  // likewise of matrices, with all moments
  OptimizerPasses fused{};
  OptimizerPasses unfused{};
  /// Whether matrices of hidden layers are updated as such, each on one rank.
  [[nodiscard]] constexpr bool by_matrix() const { return orthogonal || preconditioner; }
  friend bool operator==(const OptimizerRule&, const OptimizerRule&) = default;
};
inline constexpr OptimizerRule kAdam{.name = "adam",
                                     .state_bytes = 8.0,
                                     .unfused = {.gradient_reads = 2, .numbers = 16, .kernels = 7}};
inline constexpr OptimizerRule kMomentumSgd{
    .name = "sgd",
    .state_bytes = 4.0,
    .unfused = {.gradient_reads = 1, .numbers = 7, .kernels = 3}};
inline constexpr OptimizerRule kPlainSgd{
    .name = "sgd-plain",
    .state_bytes = 0.0,
    .unfused = {.gradient_reads = 1, .numbers = 2, .kernels = 1}};
/// Statistics, the norm of the update and the update itself need a look at the gradient each.
inline constexpr OptimizerRule kAdafactor{
    .name = "adafactor",
    .state_bytes = 0.0,
    .factored = true,
    .fused = {.gradient_reads = 3, .numbers = 0, .kernels = 3},
    .unfused = {.gradient_reads = 2, .numbers = 12, .kernels = 8}};

constexpr double kQuantisedState = 1 + 4.0 / 256;  // an fp32 scale for every 256 [bitsandbytes]
/// [Dettmers et al. 2022]
inline constexpr OptimizerRule kAdam8Bit{
    .name = "adam-8bit", .state_bytes = 2 * kQuantisedState, .quantised = true};
/// [Chen et al. 2023]
inline constexpr OptimizerRule kLion{.name = "lion",
                                     .state_bytes = 4.0,
                                     .unfused = {.gradient_reads = 2, .numbers = 11, .kernels = 5}};
inline constexpr OptimizerRule kLion8Bit{
    .name = "lion-8bit", .state_bytes = kQuantisedState, .quantised = true};
/// Every tensor's update is scaled by the norms of both. [You et al. 2020]
inline constexpr OptimizerRule kLamb{
    .name = "lamb",
    .state_bytes = 8.0,
    .whole_tensors = true,
    .fused = {.gradient_reads = 1, .numbers = 5, .kernels = 4},
    .unfused = {.gradient_reads = 2, .numbers = 20, .kernels = 10}};
/// Adam with a second, slower mean of gradients: its lerp 2+g, and both means added 3.
/// [Pagliardini et al. 2024]
inline constexpr OptimizerRule kAdEmaMix{
    .name = "ademamix",
    .state_bytes = 12.0,
    .unfused = {.gradient_reads = 3, .numbers = 21, .kernels = 9}};
/// What is no matrix of a hidden layer is updated as Adam does.
inline constexpr OptimizerRule kMuon{
    .name = "muon", .state_bytes = kAdam.state_bytes, .orthogonal = true, .unfused = kAdam.unfused};
/// The step's size is Adam's; roots of the sums by their eigenvectors, about 9 n^3 FLOPs [Golub and
/// Van Loan]. [Anil et al. 2020; Shi et al. 2023, Distributed Shampoo]
inline constexpr OptimizerRule kShampoo{
    .name = "shampoo",
    .state_bytes = kAdam.state_bytes,
    .preconditioner =
        Preconditioner{.most = 1024, .in_blocks = true, .products = 2, .cubes = 9, .every = 100},
    .unfused = kAdam.unfused};
/// Adam in the eigenvectors of these sums, to which a product and a QR decomposition go on from
/// those before: 2 n^3 + 8/3 n^3. [Vyas et al. 2024]
inline constexpr OptimizerRule kSoap{
    .name = "soap",
    .state_bytes = kAdam.state_bytes,
    .preconditioner =
        Preconditioner{.most = 10'000, .products = 3, .cubes = 2 + 8.0 / 3, .every = 10},
    .unfused = kAdam.unfused};
inline constexpr std::array<OptimizerRule, 12> kOptimizerRules = {kAdam,
                                                                  kMomentumSgd,
                                                                  kPlainSgd,
                                                                  kAdafactor,
                                                                  kAdam8Bit,
                                                                  kLion,
                                                                  kLion8Bit,
                                                                  kLamb,
                                                                  kAdEmaMix,
                                                                  kMuon,
                                                                  kShampoo,
                                                                  kSoap};
inline constexpr auto kOptimizers = [] {
  std::array<Choice<OptimizerRule>, kOptimizerRules.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i] = {kOptimizerRules[i].name, kOptimizerRules[i]};
  }
  return choices;
}();

/// fp32 bytes of a factored moment per parameter, of matrices with so many rows and columns.
[[nodiscard]] constexpr double factored_bytes(double rows, double columns) {
  return 4.0 * (1 / rows + 1 / columns);
}

/// Bytes per parameter by role, for one training precision.
struct ParameterBytes {
  Bytes weight;
  Bytes gradient;
  Bytes optimizer;   // states, and the master copy when the weights are narrower
  Bytes gathered{};  // of a parameter that passes need whole, where its weight is split or away
  std::optional<Bytes>
      matrix{};  // states of one of a hidden layer's matrix, where they are others,
  std::optional<Preconditioner> sides{};  // and beside them of the matrix
};

/// What is held of weights in the type of narrow products.
enum class NarrowWeights : std::uint8_t {
  cast,      // nothing: they are converted for every product
  gathered,  // what is gathered of weights that are split
  beside,    // copies beside the weights, made anew by every step
  instead,   // the weights themselves; a step updates their master copy
};
inline constexpr std::array<Choice<NarrowWeights>, 4> kNarrowWeights = {
    {{"cast", NarrowWeights::cast},
     {"gathered", NarrowWeights::gathered},
     {"beside", NarrowWeights::beside},
     {"instead", NarrowWeights::instead}}};

/// How many numbers of fp8 share a scale.
enum class NarrowScaling : std::uint8_t {
  tensor,  // all of a tensor
  row,     // all of a row, along which a product sums: copies by columns have other ones [torchao]
  block,   // 32 in a row, which then cannot be read by columns [OCP MX 2023]
};
inline constexpr std::array<Choice<NarrowScaling>, 3> kNarrowScalings = {
    {{"tensor", NarrowScaling::tensor},
     {"row", NarrowScaling::row},
     {"block", NarrowScaling::block}}};

/// Of a number, with its part of a scale: a byte for 32 numbers of fp8, or for 16 of fp4. What
/// whole rows or tensors have is none to speak of.
[[nodiscard]] constexpr Bytes narrow_bytes(DataType type, NarrowScaling scaling) {
  if (type == DataType::fp4) {
    return size_of(type) + Bytes::from_si(1.0 / 16);
  }
  return size_of(type) + Bytes::from_si(scaling == NarrowScaling::block ? 1.0 / 32 : 0.0);
}

/// Weights in the type of narrow products.
struct NarrowCopies {
  NarrowWeights held = NarrowWeights::beside;
  Bytes number;     // of a layout
  int layouts = 2;  // products of both passes read them in rows, unless the chip takes columns, too
                    // [TransformerEngine]

  [[nodiscard]] constexpr Bytes bytes() const { return layouts * number; }
};

/// Types of tensors, where they are not what the precision says.
struct TensorTypes {
  DataType weight = DataType::bf16;
  DataType gradient = DataType::fp32;
  DataType state = DataType::fp32;
  DataType master = DataType::fp32;  // no copy where the weights are as wide
  std::optional<NarrowCopies> narrow{};
  std::optional<DataType> gathered{};  // otherwise as `weight`

  [[nodiscard]] bool are_narrow() const { return narrow && narrow->held == NarrowWeights::instead; }
};
/// What a step writes of a parameter beside the weights that it updates.
[[nodiscard]] Bytes written_copies(const TensorTypes& types);
/// Of the moments of a parameter.
[[nodiscard]] Bytes moment_bytes(const OptimizerRule& rule, const TensorTypes& types);
/// Of the one moment that a matrix has whose updates are orthogonalised.
[[nodiscard]] inline Bytes momentum_bytes(const TensorTypes& types) { return size_of(types.state); }
[[nodiscard]] ParameterBytes parameter_bytes(const OptimizerRule& rule, const TensorTypes& types);

/// A number of a message: quantised ones travel with an fp32 scale for every 128 of them.
[[nodiscard]] constexpr Bytes message_bytes(DataType type) {
  constexpr double scaled = 128;
  const Bytes bytes = size_of(type);
  return bytes < size_of(DataType::bf16) ? bytes + size_of(DataType::fp32) / scaled : bytes;
}

}  // namespace titer
