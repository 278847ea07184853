// What a recommendation model does on one rank, as blocks of operations.

#include <algorithm>

#include "titer/model/dlrm/dlrm.hpp"

namespace titer {
namespace {

/// Lists the operations of one rank with `samples` samples of a micro-batch.
class DlrmBuilder {
 public:
  DlrmBuilder(const Dlrm& model, const Slice& slice)
      : model_(&model),
        samples_(static_cast<double>(slice.micro_batch * slice.sequence)),
        value_(size_of(slice.type)),
        load_(table_load(model,
                         {.devices = static_cast<int>(slice.expert),
                          .samples = samples_ * static_cast<double>(slice.expert),
                          .type = slice.type})) {}

  /// Look-ups, then sums of tables that are split by rows; gradients go the other way.
  [[nodiscard]] OperationList tables() const {
    OperationList list(1);
    list[0].name = "look-up";
    list[0].forward = {.kind = KernelKind::memory, .flops = {}, .bytes = load_.lookup};
    list[0].weight_gradient = {.kind = KernelKind::memory, .flops = {}, .bytes = load_.update};
    list[0].output_gradient = samples_ * vector() * static_cast<double>(model_->tables.size());
    if (load_.reduce_scatter > Bytes{}) {
      list.push_back({.name = "row-wise sums"});
      list[1].forward_transfer = {
          Collective::reduce_scatter, load_.reduce_scatter, LayerGroup::expert};
      list[1].backward_transfer = {
          Collective::all_gather, load_.reduce_scatter, LayerGroup::expert};
    }
    return list;
  }

  /// The bottom MLP, which needs no vectors: what is looked up is exchanged beside its largest
  /// layer, and so are the gradients of that.  [Mudigere et al. 2022, section 4]
  [[nodiscard]] OperationList bottom() const {
    OperationList list = mlp(model_->dense_features, model_->bottom);
    list.front().input_gradient = {};  // of the features, which nobody needs
    const auto largest = std::ranges::max_element(list, [](const Operation& a, const Operation& b) {
      return a.forward.flops < b.forward.flops;
    });
    largest->forward_transfer = {Collective::all_to_all, load_.all_to_all, LayerGroup::expert};
    largest->backward_transfer = largest->forward_transfer;
    largest->beside = true;
    return list;
  }

  [[nodiscard]] OperationList mlp(std::int64_t input,
                                  const std::vector<std::int64_t>& widths) const {
    OperationList list;
    for (const std::int64_t width : widths) {
      const auto in = static_cast<double>(input);
      const auto out = static_cast<double>(width);
      const Kernel product{.kind = KernelKind::matrix,
                           .flops = Flops::from_si(2 * samples_ * in * out),
                           .bytes = (samples_ * (in + out) + in * out) * value_,
                           .shape = {.rows = static_cast<float>(samples_),
                                     .columns = static_cast<float>(out),
                                     .inner = static_cast<float>(in),
                                     .padded = true}};
      Operation op{.name = "linear",
                   .forward = product,
                   .input_gradient = product,
                   .weight_gradient = product,
                   .saved = samples_ * in * value_,
                   .weight_input = samples_ * in * value_,
                   .output_gradient = samples_ * out * value_};
      list.push_back(op);
      input = width;
    }
    return list;
  }

  [[nodiscard]] OperationList interaction() const {
    const Bytes in = samples_ * vector() * static_cast<double>(model_->vectors());
    const Bytes out = samples_ * static_cast<double>(model_->interaction_width()) * value_;
    const Kernel products{.kind = KernelKind::matrix,
                          .flops = samples_ * forward_flops(*model_).interaction,
                          .bytes = in + out};
    Operation op{.name = "interaction", .forward = products, .saved = in};
    op.input_gradient = {
        .kind = KernelKind::matrix, .flops = 2.0 * products.flops, .bytes = 2.0 * in + out};
    return {op};
  }

  [[nodiscard]] Bytes vector() const { return static_cast<double>(model_->dim) * value_; }
  [[nodiscard]] double samples() const { return samples_; }

 private:
  const Dlrm* model_;
  double samples_;
  Bytes value_;
  TableLoad load_;
};

/// Parameters of the tables by who holds them: spread over the ranks like experts, or on each.
ParameterCount table_parameters(const Dlrm& model) {
  ParameterCount count;
  for (const EmbeddingTable& table : model.tables) {
    const bool everywhere = table.placement == TablePlacement::data_parallel;
    (everywhere ? count.replicated : count.experts) += table.rows * model.dim;
  }
  return count;
}

}  // namespace

void list_blocks(const Dlrm& model, const Slice& slice, ModelBlocks& into) {
  const DlrmBuilder build(model, slice);
  const DlrmParameters count = dlrm_parameters(model);
  const Bytes vectors = build.samples() * build.vector() * static_cast<double>(model.vectors());
  const Bytes products =
      build.samples() * static_cast<double>(model.interaction_width()) * size_of(slice.type);
  const Bytes features =
      build.samples() * static_cast<double>(model.dense_features) * size_of(slice.type);
  into = {};
  const ParameterCount tables = table_parameters(model);
  into.kinds = {
      {.name = "tables",
       .operations = build.tables(),
       .parameters = {.experts = tables.experts},
       .input = {},
       .output = build.samples() * build.vector() * static_cast<double>(model.tables.size()),
       .in_place = true},
      {.name = "replicated tables",
       .operations = {},
       .parameters = {.replicated = tables.replicated},
       .input = {},
       .output = {}},
      {.name = "bottom MLP",
       .operations = build.bottom(),
       .parameters = {.replicated = count.bottom},
       .input = features,
       .output = vectors},
      {.name = "interaction",
       .operations = build.interaction(),
       .parameters = {},
       .input = vectors,
       .output = products},
      {.name = "top MLP",
       .operations = build.mlp(model.interaction_width(), model.top),
       .parameters = {.replicated = count.top},
       .input = products,
       .output = {}}};
  for (int kind = 0; kind < static_cast<int>(into.kinds.size()); ++kind) {
    into.order.push_back({.kind = kind, .count = 1});
  }
}

}  // namespace titer
