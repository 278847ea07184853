#include "titer/plan/memory/offload.hpp"

namespace titer {
namespace {

constexpr std::array kOffloadFields = {
    fields::choice<&Offload::weights, kHostPlaces>("weights", "fetched by every pass"),
    fields::choice<&Offload::optimizer, kHostPlaces>(
        "optimizer", "state that the optimizer step reads and writes"),
    fields::choice<&Offload::gradients, kHostPlaces>(
        "gradients", "out behind the backward pass, added up there"),
    fields::choice<&Offload::update, kUpdatePlaces>(
        "update", "who updates parameters whose optimizer's state is on the host"),
    fields::choice<&Offload::activations, kHostPlaces>(
        "activations", "out behind the forward pass of a layer, in before the backward pass"),
    fields::integer<&Offload::layers>(
        "layers", {1, 1'000'000}, "of a rank's layers, whose activations are copied")
        .or_else("all"),
    fields::flag<&Offload::prefetch>("prefetch", "copies run beside the neighbouring layer")};

}  // namespace

std::span<const Field<Offload>> offload_fields() { return kOffloadFields; }

}  // namespace titer
