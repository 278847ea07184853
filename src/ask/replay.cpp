#include "titer/trace/replay.hpp"

#include <filesystem>

#include "titer/ask/asked_source.hpp"
#include "titer/ask/network.hpp"
#include "titer/ask/option.hpp"
#include "titer/report/network/replay_report.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr std::array kReplayOptions = {
    options::texts<&ReplayRequest::files>(
        "files",
        "FILE",
        "a GOAL schedule, or the Chakra trace of each rank, perhaps with comm_group.json")
        .needed()
        .first()
        .file(),
    options::asked<&ReplayRequest::cluster>(
        "cluster", "CLUSTER", "a shipped cluster, or a file: rank i is device i")
        .needed()
        .file(kOnly<kClusterData>),
    options::changes<&ReplayRequest::cluster>(
        "put a value at a path, such as cluster.node.nics=4; may be repeated"),
    options::number<&ReplayRequest::compute_scale>(
        "compute_scale",
        "FACTOR",
        "multiply what the files say of compute; work without a duration takes what the cluster's "
        "chip needs")
        .or_else("1")
        .within({1e-6, 1e6})};

}  // namespace

std::span<const Option<ReplayRequest>> replay_options() { return kReplayOptions; }

Answer ask(const ReplayRequest& request) {
  const std::vector<std::filesystem::path> files(request.files.begin(), request.files.end());
  const Workload workload = load_workload(files);
  const Cluster cluster = cluster_of(request.cluster);
  const ReplayOptions options = {.compute_scale = request.compute_scale};
  View view = replay_view(workload, replay(workload, cluster, options), cluster, options);
  view.asked = {{"asked", listed(request.files, " ")}, {"cluster", cluster.name}};
  return {.view = std::move(view)};
}

}  // namespace titer
