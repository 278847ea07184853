#include "model/layer/expert_tokens.hpp"

namespace titer {

ExpertTokens::ExpertTokens(LayerBuilder& layer, const Experts& experts)
    : layer_(layer),
      experts_(experts),
      slice_(layer.slice()),
      width_(static_cast<double>(experts.token_width(layer.model().hidden))),
      element_(layer.element()),
      // The tensor-parallel ranks share the tokens out, also without sequence parallelism.
      tokens_(layer.tokens() / layer.tensor()),
      routed_(tokens_ * static_cast<double>(experts.per_token) * slice_.expert_kept),
      received_(tokens_ * static_cast<double>(experts.per_token) * slice_.expert_load),
      sent_(slice_.expert_sent * received_),
      parts_(static_cast<double>(slice_.expert_tensor)),
      here_(parts_ * received_) {}

Transfer ExpertTokens::result_gather() const {
  if (slice_.tensor == 1 || slice_.sequence_parallel) {
    return {};
  }
  return {Collective::all_gather, layer_.tokens() * width_ * element_};
}

/// Tokens of all ranks that have all experts between them.
double ExpertTokens::gathered() const {
  return tokens_ * static_cast<double>(slice_.expert) * parts_;
}

/// All of them with their probabilities, and which experts they go to, to every rank: each takes
/// out what its own experts compute. Backward what they return as gradients is put among zeros,
/// and added up on the way to the tokens' own ranks.
void ExpertTokens::add_gather() {
  const auto count = static_cast<double>(experts_.count);
  const Bytes token = width_ * element_ + count * size_of(DataType::fp32);
  const Bytes all = gathered() * width_ * element_;
  const Bytes local = here_ * width_ * element_;
  Operation gather = expert_operation("token gather");
  gather.forward_transfer = {Collective::all_gather,
                             gathered() * (token + count * Bytes::from_si(1.0)),
                             LayerGroup::all_experts};
  gather.backward_transfer = {
      Collective::reduce_scatter, gathered() * token, LayerGroup::all_experts};
  layer_.add(gather);
  Operation op = expert_operation("permutation");
  op.saved = here_ * Bytes::from_si(8.0);  // places
  op.forward = LayerBuilder::memory(2.0 * local);
  op.input_gradient = LayerBuilder::memory(3.0 * local + all);
  op.working = all;
  op.awaited = !experts_.routing.padded;
  layer_.add(op);
}

/// The other way round.
void ExpertTokens::add_scatter() {
  const Bytes all = gathered() * width_ * element_;
  const Bytes local = here_ * width_ * element_;
  Operation op = expert_operation("combination");
  if (slice_.weighs_outputs) {
    op.saved = local + here_ * size_of(DataType::fp32);
  }
  op.forward = LayerBuilder::memory(3.0 * local + all);
  op.input_gradient = LayerBuilder::memory((slice_.weighs_outputs ? 3.0 : 2.0) * local);
  op.working = all;
  op.forward_transfer = {Collective::reduce_scatter, all, LayerGroup::all_experts};
  op.backward_transfer = {Collective::all_gather, all, LayerGroup::all_experts};
  layer_.add(op);
  if (result_gather().exists()) {
    Operation sum = expert_operation("sum of experts");
    sum.forward_transfer = result_gather();
    layer_.add(sum);
  }
}

/// Copies of the tokens in the order of their experts, and on to these. Where further copies are
/// made by those that get them, the exchange itself puts the tokens in order.
void ExpertTokens::add_permutation() {
  Operation op = expert_operation("permutation");
  const Bytes copies = copies_here() ? routed_ * width_ * element_ : Bytes{};
  op.saved = tokens_ * static_cast<double>(experts_.per_token) * Bytes::from_si(4.0);  // places
  op.forward = is_dense() ? masked() : LayerBuilder::memory(tokens_ * width_ * element_ + copies);
  op.input_gradient = op.forward;
  op.working = routed_ * slice_.expert_sent * width_ * element_;
  op.forward_transfer = dispatch();
  op.backward_transfer = op.forward_transfer;
  op.awaited = !experts_.routing.padded;
  layer_.add(op);
}

Transfer ExpertTokens::dispatch() const {
  if (slice_.expert == 1) {
    return {};
  }
  return {Collective::all_to_all, sent_ * width_ * element_, LayerGroup::expert};
}

/// Places of all experts for one group of tokens.
double ExpertTokens::places() const {
  if (!is_dense()) {
    return 0;
  }
  const auto group = static_cast<double>(*experts_.routing.dense_group);
  const double each =
      capacity_of(experts_.routing, group, experts_.count, experts_.per_token).value_or(0.0);
  return static_cast<double>(experts_.count) * each;
}

/// Tokens times the mask, or what is in the places times it.  [GShard 2020, Algorithm 2]
Kernel ExpertTokens::masked() const {
  const auto group = static_cast<double>(*experts_.routing.dense_group);
  return layer_.matrix(
      {.rows = places(), .inner = group, .columns = width_, .count = tokens_ / group});
}

/// What came from several ranks in the order of the experts here.
void ExpertTokens::add_sort() {
  if (slice_.expert == 1 && slice_.expert_tensor == 1) {
    return;
  }
  Operation op = expert_operation("expert sort");
  const Bytes all = here_ * width_ * element_;
  op.forward = LayerBuilder::memory(slice_.expert_sent * all + all);
  op.input_gradient = op.forward;
  if (slice_.expert_tensor > 1) {
    op.forward_transfer = {Collective::all_gather, all, LayerGroup::expert_tensor};
    op.backward_transfer = {Collective::reduce_scatter, all, LayerGroup::expert_tensor};
  }
  layer_.add(op);
}

/// Back to the tokens' own ranks.
void ExpertTokens::add_return() {
  Operation back = expert_operation("combination");
  back.forward = LayerBuilder::memory((received_ + sent_) * width_ * element_);
  back.input_gradient = back.forward;
  back.forward_transfer = dispatch();
  back.backward_transfer = back.forward_transfer;
  back.working = received_ * width_ * element_;
  if (dispatch().exists() || slice_.expert_tensor > 1) {
    layer_.add(back);
  }
}

/// What a token's experts returned is added up: by the exchange itself where that has sent it
/// once to several.
void ExpertTokens::add_sum() {
  const Bytes returned = slice_.expert_sent * routed_ * width_ * element_;
  Operation sum = expert_operation("sum of experts");
  sum.saved = slice_.weighs_outputs
                  ? returned + routed_ * size_of(DataType::fp32)  // outputs and probabilities
                  : Bytes{};
  sum.forward =
      LayerBuilder::memory((copies_here() ? returned : Bytes{}) + tokens_ * width_ * element_);
  sum.input_gradient =
      LayerBuilder::memory(sum.forward.bytes + (slice_.weighs_outputs ? returned : Bytes{}));
  if (is_dense()) {  // the gradients of what experts return, and of the mask
    sum.forward = masked();
    sum.input_gradient = sum.forward;
    sum.input_gradient.flops = 2.0 * sum.forward.flops;
    sum.input_gradient.bytes = 2.0 * sum.forward.bytes;
  }
  sum.forward_transfer = result_gather();
  layer_.add(sum);
}

}  // namespace titer
