#include "titer/plan/local_steps.hpp"

namespace titer {
namespace {

constexpr std::array kLocalStepsFields = {
    fields::integer<&LocalSteps::islands>(
        "islands", {2, 1'000'000}, "of as many data-parallel ranks each")
        .needed(),
    fields::integer<&LocalSteps::steps>(
        "steps", {1, 1'000'000'000}, "of training by themselves, until they meet")
        .needed(),
    fields::choice<&LocalSteps::messages, kDataTypes>(
        "messages", "type in which they tell one another how far they have come"),
    fields::quantity<&LocalSteps::bandwidth>(
        "bandwidth", "of each island to the others, one direction, which its devices share")
        .or_else("the cluster's network"),
    fields::quantity<&LocalSteps::latency>("latency", "of a message on these links"),
    fields::choice<&LocalSteps::state, kHostPlaces>(
        "state", "where weights as they were when islands met, and their momentum, are kept")
        .or_else("on the devices")};

}  // namespace

std::span<const Field<LocalSteps>> local_steps_fields() { return kLocalStepsFields; }

}  // namespace titer
