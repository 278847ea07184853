#pragma once
// Every sharding scheme, with what it moves.

#include <array>

#include "titer/cost/moves.hpp"

namespace titer {
namespace schemes {

/// Added up by all ranks that have the same parameters; in groups of shards, then by their copies.
inline void add_gradients(const MoveTerms& of, Moves& moves) {
  static constexpr MoveText gradients{.what = "gradients",
                                      .of_experts = "gradients of experts",
                                      .source = "Rajbhandari et al. 2020"};
  static constexpr MoveText shards{.what = "gradients of equal shards",
                                   .of_experts = "those of experts",
                                   .source = "Zhao et al. 2023"};
  moves.add({.text = &gradients,
             .when = of.every_pass ? MoveTime::gradients : MoveTime::complete,
             .collective = of.exchange,
             .each = of.gradient});
  if (of.copied) {
    moves.add({.text = &shards,
               .when = MoveTime::complete,
               .among = MoveAmong::copies,
               .each = of.gradient,
               .own = true});
  }
}

inline void add_parameters(MoveTime when,
                           Collective collective,
                           const MoveTerms& of,
                           Moves& moves) {
  static constexpr MoveText parameters{.what = "parameters",
                                       .of_experts = "parameters of experts",
                                       .source = "Rajbhandari et al. 2020"};
  moves.add({.text = &parameters, .when = when, .collective = collective, .each = of.weight});
}

constexpr ShardingScheme kNone{.sharding = Sharding::none, .list = add_gradients};

/// Of each rank's shard, what is updated goes to all.
inline void list_update(const MoveTerms& of, Moves& moves) {
  add_gradients(of, moves);
  add_parameters(MoveTime::updated, of.returns, of, moves);
}
constexpr ShardingScheme kZero1{.sharding = Sharding::zero1, .list = list_update};
constexpr ShardingScheme kZero2{.sharding = Sharding::zero2, .list = list_update};

/// Parameters are only there while a block is computed.
inline void list_gathers(const MoveTerms& of, Moves& moves) {
  add_gradients(of, moves);
  add_parameters(MoveTime::forward, Collective::all_gather, of, moves);
  if (of.again) {
    add_parameters(MoveTime::backward, Collective::all_gather, of, moves);
  }
}
constexpr ShardingScheme kZero3{.sharding = Sharding::zero3, .list = list_gathers};

inline void list_served(const MoveTerms& of, Moves& moves) {
  static constexpr MoveText push{.what = "gradients, to the servers",
                                 .formula = "t1 = N g / (M BW_node)",
                                 .source = "seed equation E13"};
  static constexpr MoveText pull{.what = "parameters, from the servers",
                                 .formula = "t2 = N W / (M BW_node)",
                                 .source = "seed equation E13"};
  moves.add({.text = &push,
             .when = MoveTime::complete,
             .among = MoveAmong::servers,
             .collective = Collective::send_recv,
             .each = of.gradient});
  moves.add({.text = &pull,
             .when = MoveTime::updated,
             .among = MoveAmong::servers,
             .collective = Collective::send_recv,
             .each = of.weight});
}
constexpr ShardingScheme kParameterServer{.sharding = Sharding::parameter_server,
                                          .list = list_served,
                                          .updates = false,
                                          .in_buckets = false};

/// Of inputs and outputs there are as many bytes, whatever the parameters.
inline void list_root(const MoveTerms& of, Moves& moves) {
  static constexpr std::string_view source = "seed 004, F55";
  static constexpr MoveText inputs{.what = "inputs, from the root", .source = source};
  static constexpr MoveText weights{.what = "parameters, from the root", .source = source};
  static constexpr MoveText outputs{.what = "outputs, to the root",
                                    .back = "gradients of outputs, from the root",
                                    .source = source};
  static constexpr MoveText gradients{.what = "gradients, to the root", .source = source};
  const auto add = [&](const MoveText& text, MoveTime when, Collective collective, Bytes each) {
    moves.add({.text = &text,
               .when = when,
               .among = MoveAmong::root,
               .collective = collective,
               .each = each});
  };
  add(inputs, MoveTime::forward, Collective::send_recv, {});
  add(weights, MoveTime::forward, Collective::broadcast, of.weight);
  add(outputs, MoveTime::there_and_back, Collective::send_recv, {});
  add(gradients, MoveTime::gradients, Collective::reduce, of.gradient);
}
constexpr ShardingScheme kDataParallelRoot{
    .sharding = Sharding::data_parallel_root, .list = list_root, .in_buckets = false};

}  // namespace schemes

/// In the order of their numbers.
inline constexpr std::array kShardingSchemes = {schemes::kNone,
                                                schemes::kZero1,
                                                schemes::kZero2,
                                                schemes::kZero3,
                                                schemes::kParameterServer,
                                                schemes::kDataParallelRoot};
static_assert(kShardingSchemes.size() == kShardingKinds.size());

}  // namespace titer
