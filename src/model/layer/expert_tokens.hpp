#pragma once
// The ways of tokens to a layer's experts and back.

#include "model/layer_builder.hpp"

namespace titer {

inline constexpr Modules kMoe = bit(Module::moe);

/// The tokens of one rank that experts work on, and what brings them there and back: either each
/// goes to the ranks of its experts, or all go to every rank, which takes out its own.
class ExpertTokens {
 public:
  ExpertTokens(LayerBuilder& layer, const Experts& experts);

  /// Of a token at the experts.
  [[nodiscard]] double width() const { return width_; }
  /// Ranks that have parts of the same experts.
  [[nodiscard]] double parts() const { return parts_; }
  /// For the experts here: those of all ranks with parts of them.
  [[nodiscard]] double here() const { return here_; }
  /// The weights by which tokens are in places of experts; that they are in them is told by these.
  [[nodiscard]] Bytes mask() const { return tokens_ * places() * element_; }
  /// Without sequence parallelism every rank needs all tokens' results, and their gradients.
  [[nodiscard]] Transfer result_gather() const;

  [[nodiscard]] bool are_gathered() const {
    return slice_.gathers_tokens && slice_.expert * slice_.expert_tensor > 1;
  }
  void add_gather();
  void add_scatter();

  /// What exchanges them, where several ranks have experts.
  [[nodiscard]] Transfer dispatch() const;
  void add_permutation();
  void add_sort();
  void add_return();
  void add_sum();

 private:
  [[nodiscard]] double gathered() const;
  [[nodiscard]] bool copies_here() const { return slice_.expert == 1 || slice_.expert_sent == 1.0; }
  [[nodiscard]] bool is_dense() const { return experts_.routing.dense_group.has_value(); }
  [[nodiscard]] double places() const;
  [[nodiscard]] Kernel masked() const;

  LayerBuilder& layer_;
  const Experts& experts_;
  const Slice& slice_;
  double width_;
  Bytes element_;
  double tokens_;    // that this rank sends to experts
  double routed_;    // their copies, one for each expert
  double received_;  // copies for the experts of the busiest rank
  double sent_;      // of these, those that come from other ranks
  double parts_;
  double here_;
};

/// An operation of a mixture of experts.
[[nodiscard]] inline Operation expert_operation(std::string_view name) {
  return {.name = name, .modules = kMoe, .freed_by = kMoe};
}

}  // namespace titer
