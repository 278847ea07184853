#pragma once
// A model given as layers of operations: convolutional networks, recommendation models, anything
// that is no transformer. What operations compute, move and keep is for one sample, which is a
// sequence of one token elsewhere.
//
// Tensor-parallel ranks cut the images of every sample into a grid of parts (spatial
// partitioning): weights are on each of them, windows that reach over an edge need rows and
// columns of the neighbours' parts (halos), and what has no rows to cut is done by every rank. A
// rank's gradients of the weights are of its parts: the tensor ranks add theirs too, as data-
// parallel ranks do. A halo's send-recv has the bytes of all neighbours of the rank with most.
//
// What is kept for the backward pass: the inputs of products with weights and of batch norms, the
// results of ReLUs, which work in place, masks of dropout (1 byte) and places of maxima (8 bytes).
// A tensor that several operations need is kept once. The input of a block is kept by this block.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/model/blocks.hpp"
#include "titer/model/layered/convolution.hpp"
#include "titer/model/slice.hpp"

namespace titer {

/// Elements that are cut as the operation's input or as its output is, and bytes that do not depend
/// on the data type, cut as the output.
struct LayeredAmount {
  double input = 0;
  double output = 0;
  double bytes = 0;
};

/// A kernel, for one sample.
struct LayeredPass {
  double flops = 0;
  LayeredAmount moved{};  // without weights
};

/// A collective that an operation asks for, whatever tensor ranks there are.
struct LayeredTransfer {
  Collective kind = Collective::all_reduce;
  LayerGroup group = LayerGroup::tensor;
  double elements = 0;  // for one sample
};

/// How an operation copes with images in parts.
enum class Partitioning : std::uint8_t {
  local,       // pixel by pixel
  halo,        // of its window
  gathered,    // every rank needs all pixels
  summed,      // over all pixels: sums of parts are added
  statistics,  // batch norm: sums of every channel are added, of all ranks' samples and pixels
};

struct LayeredOperation {
  std::string name;
  KernelKind kind = KernelKind::memory;
  FeatureMap input;
  FeatureMap output;
  LayeredPass forward{};
  LayeredPass input_gradient{};   // nothing where no weights come before
  LayeredPass weight_gradient{};  // nothing without weights
  std::int64_t parameters = 0;
  double weights = 0;  // elements read by every pass, whatever the batch; gradients add to fp32
  LayeredAmount saved{};
  double saved_once = 0;  // bytes, whatever the batch
  double products = 0;    // side by side, of equal groups of channels; 0: no product, or not known
  Partitioning partitioning = Partitioning::local;
  Window window{};
  std::optional<LayeredTransfer> forward_transfer{};
  std::optional<LayeredTransfer> backward_transfer{};
};

struct LayeredLayer {
  std::string name;
  std::vector<LayeredOperation> operations{};
  FeatureMap input{};
  FeatureMap output{};
};

struct LayeredModel {
  std::string name;
  std::string title;
  std::string source;
  std::vector<LayeredLayer> kinds;
  std::vector<LayerRun> order;

  [[nodiscard]] std::int64_t layers() const;
};

/// From an object with "blocks". Shapes follow from the model's input, operation by operation;
/// branches are listed one after the other. A block that is repeated is a kind of its own as often
/// as its shapes differ.
[[nodiscard]] LayeredModel read_layered(Reader& in);
[[nodiscard]] std::int64_t parameters(const LayeredModel& model);
/// Of one sample: products only, 2 per multiply-add.
[[nodiscard]] Flops forward_flops(const LayeredModel& model);
/// Of slice.micro_batch samples. Names are the model's own: it has to outlive them.
void list_blocks(const LayeredModel& model, const Slice& slice, ModelBlocks& into);

}  // namespace titer
