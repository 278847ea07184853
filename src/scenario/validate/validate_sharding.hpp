#pragma once
// The parts of validate() about what ranks split among them, what lies outside the devices, and
// number formats.

#include "demands.hpp"

namespace titer {

void check_sharding(const Scenario& scenario, Demands& demands);
/// The cluster has a place of some kind.
void check_place(const Scenario& scenario,
                 std::string_view path,
                 const std::optional<HostPlace>& where,
                 Demands& demands);
void check_offload(const Scenario& scenario, Demands& demands);
void check_types(const Scenario& scenario, Demands& demands);
void check_optimizer(const Scenario& scenario, Demands& demands);
void check_adapters(const Scenario& scenario, Demands& demands);
void check_narrow_products(const Scenario& scenario, Demands& demands);
void check_frozen(const Scenario& scenario, Demands& demands);

}  // namespace titer
