#pragma once
// The lists of collective algorithms: the only place where one is enrolled. Each is a small type
// with a closed form (`time`), the messages it claims to send (`steps`) and the bytes each rank
// sends (`volume`). A shared test runs the messages of all that stand here and demands the formula;
// `titer list algorithms` shows them, `titer collective` offers them.
//
// Size S is always the full result: all-gather: the gathered bytes; reduce-scatter: a rank's input
// bytes; all-reduce, broadcast, reduce: the vector; all-to-all: the bytes that each rank hands out.
// One rank costs nothing. The reduction arithmetic is left out (it is hidden behind the wire on
// every device that we model).

#include <variant>

#include "titer/collectives/algorithm/direct.hpp"
#include "titer/collectives/algorithm/disjoint_rings.hpp"
#include "titer/collectives/algorithm/double_tree.hpp"
#include "titer/collectives/algorithm/doubling.hpp"
#include "titer/collectives/algorithm/exchange.hpp"
#include "titer/collectives/algorithm/hierarchical.hpp"
#include "titer/collectives/algorithm/hybrid.hpp"
#include "titer/collectives/algorithm/in_switch.hpp"
#include "titer/collectives/algorithm/in_switch_hierarchical.hpp"
#include "titer/collectives/algorithm/multi_rail.hpp"
#include "titer/collectives/algorithm/packed_trees.hpp"
#include "titer/collectives/algorithm/rail_chains.hpp"
#include "titer/collectives/algorithm/ring.hpp"
#include "titer/collectives/algorithm/server.hpp"
#include "titer/collectives/algorithm/torus.hpp"
#include "titer/collectives/algorithm/torus_all_to_all.hpp"
#include "titer/collectives/algorithm/torus_links.hpp"
#include "titer/collectives/algorithm/tree.hpp"

namespace titer {

template <CollectiveAlgorithm... Algorithms>
using AlgorithmsOf = std::variant<Algorithms...>;

using AllReduce = AlgorithmsOf<DisjointRingsAllReduce,
                               RingAllReduce,
                               HierarchicalAllReduce,
                               MultiRailRingsAllReduce,
                               NaiveRingAllReduce,
                               RecursiveDoublingAllReduce,
                               HalvingDoublingAllReduce,
                               DoubleTreeAllReduce,
                               PackedTreesAllReduce,
                               OneShotAllReduce,
                               TwoShotAllReduce,
                               TorusAllReduce,
                               TorusAllLinksAllReduce,
                               InSwitchAllReduce,
                               NetworkTreeAllReduce,
                               HierarchicalNetworkTreeAllReduce,
                               HierarchicalInSwitchAllReduce,
                               ParameterServer,
                               HybridRingsAllReduce>;
using AllGather = AlgorithmsOf<DisjointRingsAllGather,
                               InSwitchAllGather,
                               RingAllGather,
                               HierarchicalAllGather,
                               MultiRailRingsAllGather,
                               RecursiveDoublingAllGather,
                               BruckAllGather,
                               DirectAllGather,
                               TorusAllGather,
                               TorusAllLinksAllGather>;
using ReduceScatter = AlgorithmsOf<DisjointRingsReduceScatter,
                                   RingReduceScatter,
                                   HierarchicalReduceScatter,
                                   MultiRailRingsReduceScatter,
                                   RecursiveHalvingReduceScatter,
                                   PairwiseReduceScatter,
                                   DirectReduceScatter,
                                   TorusReduceScatter,
                                   TorusAllLinksReduceScatter,
                                   InSwitchReduceScatter>;
using AllToAll = AlgorithmsOf<TwoTierAllToAll,
                              DirectAllToAll,
                              PairwiseAllToAll,
                              BruckAllToAll,
                              TorusAllToAll,
                              TorusAllLinksAllToAll,
                              RailAllToAll,
                              RailPairwiseAllToAll>;
using Broadcast = AlgorithmsOf<ChainBroadcast,
                               RailChainsBroadcast,
                               BinomialBroadcast,
                               ScatterAllGatherBroadcast,
                               DoubleTreeBroadcast,
                               StarBroadcast,
                               InSwitchBroadcast>;
using Reduce = AlgorithmsOf<ChainReduce,
                            RailChainsReduce,
                            BinomialReduce,
                            RabenseifnerReduce,
                            StarReduce,
                            InSwitchReduce>;
using SendRecv = AlgorithmsOf<PointToPoint>;

// What communication libraries run by themselves (NCCL on GPUs, its PXN included; XLA on a torus):
// the lists that a prediction of a training step chooses from.
using LibraryAllReduce = AlgorithmsOf<DisjointRingsAllReduce,
                                      RingAllReduce,
                                      HierarchicalAllReduce,
                                      MultiRailRingsAllReduce,
                                      TorusAllReduce,
                                      TorusAllLinksAllReduce,
                                      InSwitchAllReduce,
                                      HierarchicalNetworkTreeAllReduce,
                                      HierarchicalInSwitchAllReduce>;
using LibraryAllGather = AlgorithmsOf<DisjointRingsAllGather,
                                      RingAllGather,
                                      HierarchicalAllGather,
                                      MultiRailRingsAllGather,
                                      TorusAllGather,
                                      TorusAllLinksAllGather>;
using LibraryReduceScatter = AlgorithmsOf<DisjointRingsReduceScatter,
                                          RingReduceScatter,
                                          HierarchicalReduceScatter,
                                          MultiRailRingsReduceScatter,
                                          TorusReduceScatter,
                                          TorusAllLinksReduceScatter>;
using LibraryAllToAll = AlgorithmsOf<TwoTierAllToAll,
                                     DirectAllToAll,
                                     PairwiseAllToAll,
                                     TorusAllToAll,
                                     TorusAllLinksAllToAll,
                                     RailAllToAll>;
using LibraryBroadcast = AlgorithmsOf<ChainBroadcast, RailChainsBroadcast>;
using LibraryReduce = AlgorithmsOf<ChainReduce, RailChainsReduce>;

}  // namespace titer
