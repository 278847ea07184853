#pragma once
// The operations that layers are made of, on one rank.

#include <optional>
#include <string_view>

#include "titer/model/transformer/tower.hpp"

namespace titer {

/// A product with weights, Y = X A.
struct Product {
  struct Part {
    WeightRole role = WeightRole::other;
    double columns = 0;
  };
  using Parts = std::array<Part, 3>;

  std::string_view name;
  double inner = 0;    // columns of X, on all ranks together
  double columns = 0;  // of Y, likewise
  Modules modules = 0;
  Modules freed_by = 0;           // X
  bool keeps_input = true;        // false: another operation keeps the same
  std::optional<Bytes> kept{};    // of a number of X; otherwise as its type has it
  bool shares_transfers = false;  // its transfers are those of another product
  double carried = 0;             // columns that are gathered and summed along with X
  bool narrow = true;             // in the slice's product type
  Parts parts{};          // the matrices side by side that A is; none: A is one of another role
  bool is_table = false;  // A is a vocabulary's
  bool ends_layer = false;
};

/// Adds operations to a list.
class LayerBuilder {
 public:
  LayerBuilder(const Transformer& model, const Slice& slice, OperationList& list);

  [[nodiscard]] const Transformer& model() const { return model_; }
  [[nodiscard]] const Slice& slice() const { return slice_; }
  /// Of one element of activations.
  [[nodiscard]] Bytes element() const { return element_; }
  [[nodiscard]] double tensor() const { return tensor_; }
  [[nodiscard]] double hidden() const { return hidden_; }
  /// Of this rank's part of the sequences.
  [[nodiscard]] double tokens() const { return tokens_; }
  /// Outside the tensor-parallel products, sequence parallelism splits the tokens over ranks;
  /// without it each rank repeats the work on all tokens.
  [[nodiscard]] double outer_tokens() const { return outer_tokens_; }
  /// What recomputes the input of attention and MLP: their norm, where it is in front of them or
  /// behind the sum that they read.
  [[nodiscard]] Modules input_norm() const {
    return model_.norm_place == NormPlace::output ? Modules{} : bit(Module::layer_norm);
  }
  /// Whether products are in a type of their own.
  [[nodiscard]] bool has_narrow_products() const { return product_element_ != element_; }

  /// Whether these keep copies of their inputs, beside what others keep of the same.
  [[nodiscard]] bool keeps_narrow_inputs() const {
    return has_narrow_products() && kept(true) != element_;
  }
  /// Whether what is kept between narrow products is narrow, too.
  [[nodiscard]] bool keeps_narrow_results() const {
    return has_narrow_products() && slice_.narrow_results;
  }

  void add(const Operation& op) {
    list_.push_back(op);
    list_.back().part = part_;
    list_.back().aside = aside_;
  }
  /// Adds to the same list what is done of other tokens, which take() then counts.
  [[nodiscard]] LayerBuilder beside(const Slice& slice) const {
    LayerBuilder other(model_, slice, list_);
    other.part_ = part_;
    other.products_ = products_;
    return other;
  }
  void take(const LayerBuilder& other) {
    adapters_ += other.adapters_;
    products_ = other.products_;
  }
  /// What is added from here on is of this part of the layer.
  void begin(LayerPart part) { part_ = part; }
  /// Or is, or no longer is, on a stream of its own.
  void put_aside(bool aside) { aside_ = aside; }

  /// Of the hidden state.
  void norm(std::string_view name) { norm({.name = name}, hidden_, hidden_); }
  /// Of `width` columns, which are kept with others: `kept_width` in all.
  void norm(Operation op, double width, double kept_width);
  /// A's columns are split: the ranks need all of X. [Shoeybi 2019: operator f]
  void column_product(const Product& product);
  /// A's rows are split: the ranks' partial sums are added. [Shoeybi 2019: operator g]
  void row_product(const Product& product);
  /// Every rank has all of A, and multiplies its own tokens.
  void replicated_product(const Product& product);
  /// Bias, dropout and residual addition of `branches` after a row-split product, in one kernel.
  void residual(std::string_view name, double branches = 1.0, bool ends_layer = false);
  /// GELU on so many elements, or SiLU(gate) * up on twice as many, clamped before where the model
  /// does so; kept beside what `op` keeps.
  void activation(Operation op, double elements);
  /// Read, changed and written, in both passes, so many elements; some of them kept.
  void pass_over(std::string_view name, double elements, double kept);
  /// The same within the product before it, and the one behind it on the way back: what it reads is
  /// kept, and no kernel is its own.
  void fused_activation(Operation op, double elements);
  void embedding(std::string_view name);
  /// Softmax cross-entropy over a vocabulary split over ranks, in fp32.
  void cross_entropy(std::string_view name);

  /// C[rows, columns] = A[rows, inner] B[inner, columns], `count` times: 2 m n k FLOPs each.
  struct Extent {
    double rows = 0;
    double inner = 0;
    double columns = 0;
    double count = 1;
    bool narrow = false;
    bool grouped = false;  // of experts: counts of rows differ
  };
  [[nodiscard]] Kernel matrix(const Extent& extent) const;
  /// A product of the numbers that a model is given, in the type of activations. They are no
  /// results: they have no gradient, unless told.
  void first_product(std::string_view name, const Extent& extent, bool has_gradient = false);
  /// The three products of an operation with weights B: Y = X B, dX = dY B^T, dB += X^T dY (fp32).
  void multiply(Operation& op, const Extent& extent) const;
  /// Numbers around a narrow product.
  struct Narrowed {
    double inputs = 0;
    double outputs = 0;
    double weights = 0;
  };
  /// The conversion of a product's input to its type, and of its output's gradient; by rows, and by
  /// columns where a weight gradient reads such a copy. Its weights are transposed where no such
  /// copy of them is kept, and converted where they are held wide.
  [[nodiscard]] Operation conversion(Modules modules, const Narrowed& numbers) const;
  /// Of all adapters that were added.
  [[nodiscard]] const ParameterCount& adapters() const { return adapters_; }
  [[nodiscard]] Bytes operand(bool narrow) const { return narrow ? product_element_ : element_; }
  /// Of an operand that a tensor group gathers, and of how many tokens each rank converts it.
  [[nodiscard]] Bytes gathered_number(bool narrow) const {
    return slice_.scales_rows ? element_ : operand(narrow);
  }
  [[nodiscard]] double converted_tokens() const {
    return slice_.scales_rows ? tokens_ : outer_tokens_;
  }
  /// Of an operand that is kept for the weight gradient.
  [[nodiscard]] Bytes kept(bool narrow) const {
    return narrow ? slice_.kept_input.value_or(product_element_) : element_;
  }
  /// Of a number that a product got back, while its weight gradient waits.
  [[nodiscard]] Bytes kept_gradient(bool narrow) const {
    return narrow && keeps_narrow_results() ? product_element_ : element_;
  }
  [[nodiscard]] static Kernel memory(Bytes bytes, KernelMaker maker = KernelMaker::kind) {
    return {.kind = KernelKind::memory, .flops = {}, .bytes = bytes, .maker = maker};
  }

 private:
  /// What is moved of a number that becomes narrow.
  struct Conversions {
    Bytes by_rows{};
    Bytes by_columns{};
    Bytes both{};  // at once, where columns are needed
  };
  [[nodiscard]] Conversions conversions() const;
  /// What an activation that makes so many elements keeps of what it reads.
  [[nodiscard]] Bytes activation_input(double elements) const;
  [[nodiscard]] bool is_narrow(const Product& p) const { return p.narrow && has_narrow_products(); }
  [[nodiscard]] Operation begin(const Product& product, double rows);
  void keep_every_second(const Product& product, Operation& op);
  /// A's columns are split over so many ranks.
  static void set_matrices(Operation& op, const Product& product, double ranks);
  /// How tensor-parallel ranks share a product out.
  enum class Split : std::uint8_t { columns, rows, none };
  /// Adds the product; before it what makes its weights 16-bit numbers, behind it its adapters.
  void add(const Operation& op, const Product& product, Split split);
  void add_dequantisation(const Operation& product);
  void add_adapter(const Product& product, const Product::Part& part, Split split);
  [[nodiscard]] Operation adapter_in(const Product& product, WeightRole role, Split split);
  [[nodiscard]] Operation adapter_out(const Product& product,
                                      const Product::Part& part,
                                      Split split);

  const Transformer& model_;
  const Slice& slice_;
  OperationList& list_;
  Bytes element_;
  Bytes product_element_;
  double tensor_;
  double tokens_;
  double outer_tokens_;
  double hidden_;
  ParameterCount adapters_;
  LayerPart part_ = LayerPart::outside;
  bool aside_ = false;
  int products_ = 0;           // of matrices, so far
  bool keeps_shared_ = false;  // the input that products share is kept for adapters already
};

/// A count as a factor of products that may exceed 64 bits.
[[nodiscard]] inline double real(std::int64_t number) { return static_cast<double>(number); }

/// A product of doubles: two admitted integers may exceed 64 bits together.
[[nodiscard]] inline double tokens_of(const Slice& slice) {
  return static_cast<double>(slice.micro_batch) * static_cast<double>(slice.sequence) /
         static_cast<double>(slice.context);
}

/// Whether attention and MLP read the layer's input, and their results are added once.
[[nodiscard]] inline bool is_parallel(const Transformer& model, const LayerKind& kind) {
  return model.parallel || kind.parallel;
}
/// Norms of a layer with two branches; one: both read the same.
[[nodiscard]] inline int norms_of_branches(const Transformer& model, const LayerKind& kind) {
  return kind.parallel ? 1 : model.norms;
}

/// Whether attention's and the MLP's partial sums are added up over the ranks together.
[[nodiscard]] inline bool sums_once(const Transformer& model, const LayerKind& kind) {
  return is_parallel(model, kind) && !kind.experts && model.norms < 4;
}

/// The matrices of an MLP's first product.
[[nodiscard]] inline Product::Parts gate_and_up(const Transformer& model, double width) {
  constexpr WeightRole gate = WeightRole::gate;
  constexpr WeightRole up = WeightRole::up;
  return model.gated ? Product::Parts{{{gate, width}, {up, width}}} : Product::Parts{{{up, width}}};
}

/// From the normalised hidden state to attention's output.
void add_attention(LayerBuilder& layer, const LayerKind& kind);
/// The same of a mixer. Of parallel branches the MLP's product sums both.
void add_mixer(LayerBuilder& layer, const LayerKind& kind);
/// RWKV's, before its products and those of its MLPs.
void add_token_shift(LayerBuilder& layer, std::string_view name, double mixtures, double tokens);
/// Of one of two streams of tokens from its normalised hidden state to queries, keys and values; of
/// both together, which attend to all; of one, what it got.
void add_stream_projections(LayerBuilder& stream, const LayerKind& kind);
void add_joint_attention(LayerBuilder& layer, const LayerKind& kind);
void add_stream_output(LayerBuilder& stream);
/// From the decoder's normalised hidden state, attending to the encoder's output.
void add_cross_attention(LayerBuilder& layer);
/// From the normalised hidden state to the sum of what the experts return.
void add_experts(LayerBuilder& layer, const Experts& experts);
/// All of a layer.
void add_layer(LayerBuilder& layer, const LayerKind& kind);

}  // namespace titer
