#pragma once
// Where the groups of a plan lie on a torus. Ranks number its chips with the first axis fastest, so
// that a group {r, r + s, r + 2 s, …} is a box of the torus where its stride s and its stretch s n
// (n ranks) each end an axis, or a part of one that divides it.
//
// A stride that ends inside an axis leaves every k-th of its chips to a group, and the chips
// between to k - 1 other groups of the same kind. All run at once. A message to the next chip of a
// group takes k wires; of the k groups each has one message that way over every wire of the axis,
// so each has a k-th of the wire. Two chips k apart on a ring of 2 k are as far one way round as
// the other: half of the bytes go each way, and a wire carries k / 2 of them.

#include <optional>
#include <string>

#include "titer/collectives/algorithm/torus.hpp"
#include "titer/plan/place/placement.hpp"

namespace titer {

/// The shape of a kind's groups, which are all alike; axes of one chip are left out. Empty: they
/// are no boxes, or have more axes than collectives know.
[[nodiscard]] std::optional<TorusShape> torus_shape(const Torus& torus, const GroupRanks& of);

/// What a wire carries, in messages one after the other and in shares of a message, while member
/// `from` of every group sends to member `to` the shortest way (an axis after the other; of two
/// ways as long half each). REQUIRES a kind of groups that has a shape.
[[nodiscard]] WireLoad torus_send(const Torus& torus, const GroupRanks& of, int from, int to);

/// The cluster with the torus that so many of its chips are, and nothing else; itself where it is
/// no torus. REQUIRES that there is one of so many.
[[nodiscard]] Cluster on_slice(const Cluster& cluster, std::int64_t chips);

/// "32 x 32", an open axis as "128 (open)".
[[nodiscard]] std::string torus_name(const Torus& torus);

/// Why no plan can have so many devices of the torus that a cluster is: "expected …"; empty where
/// one can, or where the cluster is none.
[[nodiscard]] std::string no_slice_text(const Cluster& cluster, std::int64_t devices);

/// A group of a plan that is no box of its torus.
struct TorusMisfit {
  std::string path;  // of the degree that makes it
  std::int64_t degree = 1;
  std::string expected;
};
/// The innermost such group, and what would fit in its place; empty: there is none.
/// REQUIRES a plan of which refused_order() says nothing, on all devices of the torus.
[[nodiscard]] std::optional<TorusMisfit> torus_misfit(const Plan& plan, const Torus& torus);

}  // namespace titer
