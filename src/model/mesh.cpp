#include "titer/model/mesh.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr char kNone = '.';

std::int64_t size_among(const std::vector<MeshDimension>& list, char letter) {
  const auto found = std::find_if(
      list.begin(), list.end(), [&](const MeshDimension& one) { return one.letter == letter; });
  ensure(found != list.end(), "a mesh knows every axis and dimension of its tensors");
  return found->size;
}

void check(const Mesh& mesh, const MeshTensor& tensor) {
  ensure(tensor.dimensions.size() == tensor.axes.size(), "every dimension has an axis or '.'");
  for (std::size_t i = 0; i < tensor.axes.size(); ++i) {
    const char axis = tensor.axes[i];
    if (axis != kNone) {
      ensure(tensor.axes.find(axis, i + 1) == std::string::npos, "no axis splits two dimensions");
      ensure(mesh.size_of_dimension(tensor.dimensions[i]) % mesh.size_of_axis(axis) == 0,
             "an axis divides the dimension that it splits");
    }
  }
}

/// The einsum on its way: what each axis splits while the product is computed, what has to be
/// gathered before, and what the partial results still need.
class Lowering {
 public:
  Lowering(const Mesh& mesh, const MeshEinsum& einsum, DataType type)
      : mesh_(mesh),
        left_(einsum.left),
        right_(einsum.right),
        output_(einsum.output),
        element_(size_of(type)) {
    check(mesh, left_);
    check(mesh, right_);
    check(mesh, output_);
    for (const char dimension : output_.dimensions) {
      ensure(left_.has(dimension) || right_.has(dimension),
             "an output's dimension is of an operand");
    }
  }

  MeshCost run() {
    for (const MeshDimension& axis : mesh_.axes) {
      split_work(axis.letter);
    }
    cost_.flops = flops();
    // What of the output a device has just computed.
    part_ = output_.elements(mesh_);
    for (const Axis& axis : work_) {
      part_ /= output_.has(axis.dimension) ? size(axis) : 1.0;
    }
    for (const Collective kind : {Collective::reduce_scatter,
                                  Collective::all_reduce,
                                  Collective::all_to_all,
                                  Collective::all_gather}) {
      for (const Axis& axis : work_) {
        if (needed(axis) == kind) {
          finish(axis, kind);
        }
      }
    }
    return cost_;
  }

 private:
  struct Axis {
    char letter;
    char dimension;  // that it splits in the work
  };

  [[nodiscard]] double size(const Axis& axis) const {
    return static_cast<double>(mesh_.size_of_axis(axis.letter));
  }

  void split_work(char axis) {
    const char left = left_.split_on(axis);
    const char right = right_.split_on(axis);
    if (left != kNone && right != kNone && left != right) {
      resolve(axis, left, right);
    }
    char dimension = left_.split_on(axis);
    dimension = dimension != kNone ? dimension : right_.split_on(axis);
    if (taken(dimension)) {
      unsplit(axis);
      dimension = kNone;
    }
    dimension = dimension != kNone ? dimension : output_.split_on(axis);
    if (dimension != kNone && !taken(dimension)) {
      work_.push_back({axis, dimension});
    }
  }

  /// Another axis splits it already.
  [[nodiscard]] bool taken(char dimension) const {
    return std::any_of(
        work_.begin(), work_.end(), [&](const Axis& one) { return one.dimension == dimension; });
  }

  void resolve(char axis, char left, char right) {
    const char wanted = output_.split_on(axis);
    const bool left_is_smaller = left_.local_elements(mesh_) <= right_.local_elements(mesh_);
    const bool gather_left = wanted == right || (wanted != left && left_is_smaller);
    gather(
        gather_left ? left_ : right_, gather_left ? MeshOperand::left : MeshOperand::right, axis);
  }

  void unsplit(char axis) {
    if (left_.split_on(axis) != kNone) {
      gather(left_, MeshOperand::left, axis);
    }
    if (right_.split_on(axis) != kNone) {
      gather(right_, MeshOperand::right, axis);
    }
  }

  void gather(MeshTensor& tensor, MeshOperand operand, char axis) {
    tensor.axes[tensor.axes.find(axis)] = kNone;
    cost_.transfers.push_back({.kind = Collective::all_gather,
                               .of = operand,
                               .axis = axis,
                               .size = tensor.local_elements(mesh_) * element_});
  }

  [[nodiscard]] Flops flops() const {
    double products = left_.elements(mesh_);
    for (const char dimension : right_.dimensions) {
      products *=
          left_.has(dimension) ? 1.0 : static_cast<double>(mesh_.size_of_dimension(dimension));
    }
    for (const Axis& axis : work_) {
      products /= size(axis);
    }
    return Flops::from_si(2.0 * products);
  }

  /// What makes of an axis' parts what the output wants; a broadcast stands for nothing.
  [[nodiscard]] Collective needed(const Axis& axis) const {
    const char wanted = output_.split_on(axis.letter);
    if (!output_.has(axis.dimension)) {
      return wanted == kNone ? Collective::all_reduce : Collective::reduce_scatter;
    }
    if (wanted == axis.dimension) {
      return Collective::broadcast;
    }
    return wanted == kNone ? Collective::all_gather : Collective::all_to_all;
  }

  void finish(const Axis& axis, Collective kind) {
    if (kind == Collective::all_gather) {
      part_ *= size(axis);
    }
    cost_.transfers.push_back(
        {.kind = kind, .of = MeshOperand::output, .axis = axis.letter, .size = part_ * element_});
    if (kind == Collective::reduce_scatter) {
      part_ /= size(axis);
    }
  }

  const Mesh& mesh_;
  MeshTensor left_;
  MeshTensor right_;
  MeshTensor output_;
  Bytes element_;
  std::vector<Axis> work_;
  double part_ = 0;
  MeshCost cost_;
};

}  // namespace

std::int64_t Mesh::devices() const {
  std::int64_t product = 1;
  for (const MeshDimension& axis : axes) {
    product *= axis.size;
  }
  return product;
}

std::int64_t Mesh::size_of_axis(char axis) const { return size_among(axes, axis); }

std::int64_t Mesh::size_of_dimension(char dimension) const {
  return size_among(dimensions, dimension);
}

bool MeshTensor::has(char dimension) const {
  return dimensions.find(dimension) != std::string::npos;
}

char MeshTensor::axis_of(char dimension) const {
  const std::size_t at = dimensions.find(dimension);
  return at == std::string::npos ? kNone : axes[at];
}

char MeshTensor::split_on(char axis) const {
  const std::size_t at = axes.find(axis);
  return at == std::string::npos ? kNone : dimensions[at];
}

double MeshTensor::elements(const Mesh& mesh) const {
  double product = 1;
  for (const char dimension : dimensions) {
    product *= static_cast<double>(mesh.size_of_dimension(dimension));
  }
  return product;
}

double MeshTensor::local_elements(const Mesh& mesh) const {
  double product = elements(mesh);
  for (const char axis : axes) {
    product /= axis == kNone ? 1.0 : static_cast<double>(mesh.size_of_axis(axis));
  }
  return product;
}

std::array<MeshEinsum, 2> gradients(const MeshEinsum& einsum) {
  return {{{.left = einsum.output, .right = einsum.right, .output = einsum.left},
           {.left = einsum.output, .right = einsum.left, .output = einsum.right}}};
}

MeshCost mesh_cost(const Mesh& mesh, const MeshEinsum& einsum, DataType type) {
  return Lowering(mesh, einsum, type).run();
}

}  // namespace titer
