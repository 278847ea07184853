#include "titer/model/layered/layered.hpp"

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Turns operations for one sample into those of one rank for a micro-batch.
class RankOperations {
 public:
  explicit RankOperations(const Slice& slice)
      : samples_(static_cast<double>(slice.micro_batch)),
        element_(size_of(slice.type)),
        grid_({.rows = slice.tensor / slice.image_columns, .columns = slice.image_columns}) {
    ensure(slice.tensor % slice.image_columns == 0, "columns of images divide the tensor ranks");
  }

  [[nodiscard]] Operation of(const LayeredOperation& op) const {
    const Shares shares = {.input = grid_.share(op.input), .output = grid_.share(op.output)};
    Operation result{.name = op.name, .saved = bytes(op.saved, shares)};
    result.forward = kernel(op, op.forward, shares);
    result.input_gradient = kernel(op, op.input_gradient, shares);
    result.saved += Bytes::from_si(op.saved_once);
    if (op.weight_gradient.flops > 0 || exists(op.weight_gradient.moved)) {
      result.weight_gradient = kernel(op, op.weight_gradient, shares);
      // Reads and writes the sum instead of reading the weights.
      result.weight_gradient.bytes += op.weights * (2.0 * size_of(DataType::fp32) - element_);
      result.weight_input = samples_ * op.input.elements() * shares.input * element_;
      result.output_gradient = samples_ * op.output.elements() * shares.output * element_;
    }
    if (op.products > 0) {
      set_shapes(op, shares, result);
    }
    result.forward_transfer = wanted(op.forward_transfer);
    result.backward_transfer = wanted(op.backward_transfer);
    if (grid_.cuts()) {
      partition(op, result);
    }
    return result;
  }

  /// Of one rank.
  [[nodiscard]] Bytes part(const FeatureMap& map) const { return grid_.share(map) * whole(map); }
  /// Of all tensor ranks.
  [[nodiscard]] Bytes whole(const FeatureMap& map) const {
    return samples_ * map.elements() * element_;
  }

 private:
  struct Shares {
    double input = 1;
    double output = 1;
  };

  [[nodiscard]] static bool exists(const LayeredAmount& amount) {
    return amount.input > 0 || amount.output > 0 || amount.bytes > 0;
  }

  [[nodiscard]] Bytes bytes(const LayeredAmount& amount, const Shares& shares) const {
    return samples_ * ((amount.input * shares.input + amount.output * shares.output) * element_ +
                       amount.bytes * shares.output * Bytes::from_si(1.0));
  }

  [[nodiscard]] Kernel kernel(const LayeredOperation& op,
                              const LayeredPass& pass,
                              const Shares& shares) const {
    if (pass.flops <= 0 && !exists(pass.moved)) {
      return {};
    }
    return {.kind = op.kind,
            .flops = Flops::from_si(samples_ * pass.flops * shares.output),
            .bytes = bytes(pass.moved, shares) + op.weights * element_};
  }

  /// A convolution is a product of every place of its window with the weights; its gradients are
  /// products of the same extents.
  void set_shapes(const LayeredOperation& op, const Shares& shares, Operation& result) const {
    const double places = samples_ * static_cast<double>(op.output.pixels()) * shares.output;
    const double channels = static_cast<double>(op.output.channels) / op.products;
    const double weights = op.forward.flops / (2.0 * op.output.elements());  // of an output
    const auto shape = [&](double rows, double columns, double inner) {
      return KernelShape{.rows = static_cast<float>(rows),
                         .columns = static_cast<float>(columns),
                         .inner = static_cast<float>(inner),
                         .count = static_cast<float>(op.products),
                         .padded = true};
    };
    result.forward.shape = shape(places, channels, weights);
    result.input_gradient.shape = shape(places, weights, channels);
    result.weight_gradient.shape = shape(weights, channels, places);
    result.weight_gradient.shape.tokens = KernelShape::Tokens::inner;
  }

  [[nodiscard]] Transfer wanted(const std::optional<LayeredTransfer>& transfer) const {
    return transfer ? Transfer{.kind = transfer->kind,
                               .size = samples_ * transfer->elements * element_,
                               .group = transfer->group}
                    : Transfer{};
  }

  /// What parts of images ask for. Gradients of a halo go back to the neighbours, which add them:
  /// as many bytes as came.
  void partition(const LayeredOperation& op, Operation& result) const {
    const bool backward = result.input_gradient.exists();
    if (op.partitioning == Partitioning::halo) {
      const auto pixels = static_cast<double>(halo_pixels(op.window, op.input, grid_));
      const Bytes halo = samples_ * pixels * static_cast<double>(op.input.channels) * element_;
      result.column_split = true;
      result.forward_transfer = {Collective::send_recv, halo};
      result.backward_transfer = {Collective::send_recv, backward ? halo : Bytes{}};
      // The gradient of the weights needs the halo too.
      result.saved += result.weight_gradient.exists() ? halo : Bytes{};
      result.weight_input += result.weight_gradient.exists() ? halo : Bytes{};
    } else if (op.partitioning == Partitioning::gathered && op.input.pixels() > 1) {
      result.column_split = true;
      result.forward_transfer = {Collective::all_gather, whole(op.input)};
      gather(op, result);
    } else if (op.partitioning == Partitioning::summed) {
      result.forward_transfer = {Collective::all_reduce, whole(op.output)};
    } else if (op.partitioning == Partitioning::statistics) {
      // A sum and a sum of squares of every channel, and likewise for the gradient.
      const Bytes sums = 2.0 * static_cast<double>(op.input.channels) * size_of(DataType::fp32);
      result.forward_transfer = {Collective::all_reduce, sums};
      result.backward_transfer = {Collective::all_reduce, backward ? sums : Bytes{}};
    }
  }

  /// Every rank works on the whole input.
  void gather(const LayeredOperation& op, Operation& result) const {
    const Shares all = {.input = 1, .output = grid_.share(op.output)};
    result.saved = bytes(op.saved, all);
    for (const auto& [pass, kernel] : {std::pair{&op.forward, &result.forward},
                                       std::pair{&op.input_gradient, &result.input_gradient},
                                       std::pair{&op.weight_gradient, &result.weight_gradient}}) {
      const double missing = 1.0 - grid_.share(op.input);
      kernel->bytes += samples_ * pass->moved.input * missing * element_;
    }
    result.weight_input = result.weight_gradient.exists() ? whole(op.input) : Bytes{};
  }

  double samples_;
  Bytes element_;
  ImageGrid grid_;
};

void fill(const LayeredLayer& layer, const RankOperations& rank, Block& block) {
  block.name = layer.name;
  block.operations.clear();
  block.parameters = {};
  for (const LayeredOperation& op : layer.operations) {
    block.operations.push_back(rank.of(op));
    block.parameters.replicated += op.parameters;
  }
  block.input = rank.part(layer.input);
  block.output = rank.whole(layer.output);
}

void clear(Block& block, std::string_view name) {
  block.name = name;
  block.operations.clear();
  block.parameters = {};
  block.input = block.output = {};
}

/// A sum over all layers of what `of` says of each operation.
template <class Number, class Of>
Number total(const LayeredModel& model, Of of) {
  Number sum = 0;
  for (const LayerRun& run : model.order) {
    Number layer = 0;
    for (const LayeredOperation& op : model.kinds[static_cast<std::size_t>(run.kind)].operations) {
      layer += of(op);
    }
    sum += static_cast<Number>(run.count) * layer;
  }
  return sum;
}

}  // namespace

std::int64_t LayeredModel::layers() const {
  std::int64_t sum = 0;
  for (const LayerRun& run : order) {
    sum += run.count;
  }
  return sum;
}

std::int64_t parameters(const LayeredModel& model) {
  return total<std::int64_t>(model, [](const LayeredOperation& op) { return op.parameters; });
}

Flops forward_flops(const LayeredModel& model) {
  return Flops::from_si(
      total<double>(model, [](const LayeredOperation& op) { return op.forward.flops; }));
}

void list_blocks(const LayeredModel& model, const Slice& slice, ModelBlocks& into) {
  const RankOperations rank(slice);
  into.kinds.resize(model.kinds.size());
  for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
    fill(model.kinds[kind], rank, into.kinds[kind]);
  }
  into.order = model.order;
  clear(into.embedding, "embedding");
  clear(into.head, "output head");
  into.tied_table = 0;
}

}  // namespace titer
