#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "ask/report_parts.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/ask/network.hpp"
#include "titer/ask/option.hpp"
#include "titer/collectives/collective_names.hpp"
#include "titer/collectives/curve.hpp"
#include "titer/measured/collective/measured_collective.hpp"
#include "titer/report/network/collective_report.hpp"
#include "titer/report/network/library_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::array kCollectiveOptions = {
    options::asked<&CollectiveRequest::cluster>(
        "cluster", "CLUSTER", "a cluster file, or the name of a shipped one")
        .needed()
        .file(kOnly<kClusterData>),
    options::text<&CollectiveRequest::op>(
        "op",
        "OP",
        "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce "
        "or send_recv")
        .needed(),
    options::text<&CollectiveRequest::bytes>(
        "bytes",
        "SIZE",
        "the full result, such as 64MiB; left out with --measured: the sizes in its file"),
    options::text<&CollectiveRequest::to>("to", "SIZE", "sweep from --bytes to this size"),
    options::number<&CollectiveRequest::factor>(
        "factor", "F", "from one size of the sweep to the next"),
    options::texts<&CollectiveRequest::ranks>(
        "ranks",
        "RANKS",
        "devices, numbered node by node: 0-15, 0,8,16 or 0-63:8; several "
        "times: groups that run at the same time")
        .needed(),
    options::text<&CollectiveRequest::algorithm>(
        "algorithm", "NAME", "one of `titer list algorithms`"),
    options::integer<&CollectiveRequest::servers>(
        "servers", "M", "parameter servers beside the ranks, one per node")
        .within({0, 4096}),
    options::text<&CollectiveRequest::fidelity>(
        "fidelity",
        "HOW",
        "closed: the formula; busiest: each round as long as its busiest "
        "link; flow: messages that share the links"),
    options::text<&CollectiveRequest::library>(
        "library", "NAME", "nccl: which algorithm, protocol and channels NCCL's tuner would take"),
    options::text<&CollectiveRequest::measured>(
        "measured",
        "FILE",
        "what nccl-tests printed of this collective: a two-piece curve "
        "through it is shown beside the prediction")
        .file(),
    options::changes<&CollectiveRequest::cluster>(
        "put a value at a path, such as cluster.node.nic_bandwidth=\"400 Gbps\"")};

/// By the names of nccl-tests (all_reduce) or ours (all-reduce).
Collective collective_called(std::string name) {
  std::ranges::replace(name, '_', '-');
  return chosen("--op", name, kCollectiveChoices);
}

Bytes size_of(std::string_view option, const std::string& text) {
  const std::optional<Bytes> size = parse<Bytes>(text);
  if (!size || *size < Bytes{}) {
    throw InputError(std::string(option) + ": " + text + ": expected " +
                     std::string(example<Bytes>()));
  }
  return *size;
}

/// What --measured has: the times of each size.
using Measurement = std::map<Bytes, std::vector<Seconds>>;

/// From --bytes to --to by --factor; only --bytes without --to; those measured without either.
std::vector<Bytes> sizes_of(const CollectiveRequest& request,
                            const std::optional<Measurement>& measured) {
  if (request.bytes.empty()) {
    if (!measured || !request.to.empty()) {
      throw InputError("--bytes: expected the full result, such as 64MiB" +
                       std::string(measured ? "" : ", or a --measured file that has sizes"));
    }
    return each_of(*measured, [](const auto& one) { return one.first; });
  }
  const Bytes first = size_of("--bytes", request.bytes);
  if (request.to.empty()) {
    return {first};
  }
  const Bytes last = size_of("--to", request.to);
  if (!(request.factor > 1.0) || !(first > Bytes{}) || last < first) {
    throw InputError(
        "--to: a sweep over sizes goes up: expected --bytes above 0, --to no less, --factor above "
        "1");
  }
  std::vector<Bytes> sizes;
  // The last size is met in spite of rounding.
  for (Bytes size = first; size <= last * (1 + 1e-9); size = request.factor * size) {
    sizes.push_back(size);
  }
  return sizes;
}

/// What nccl-tests printed, if a file of it is given; it must be of the same collective and number
/// of ranks, as far as the file tells.
std::optional<Measurement> measured_of(const CollectiveRequest& request,
                                       Collective collective,
                                       int ranks) {
  const std::string& path = request.measured;
  if (path.empty()) {
    return std::nullopt;
  }
  const MeasuredCollective measured = load_nccl_tests(path);
  const std::string operation(name_of(collective));
  if (!measured.operation.empty() && measured.operation != operation) {
    throw InputError("--measured: " + path + " holds " + measured.operation + ", not " + operation);
  }
  if (measured.ranks && *measured.ranks != ranks) {
    throw InputError("--measured: " + path + " is of " + std::to_string(*measured.ranks) +
                     " ranks, not " + std::to_string(ranks));
  }
  Measurement times;
  for (const MeasuredSize& size : measured.sizes) {
    if (size.size > Bytes{} && size.time() && *size.time() > Seconds{}) {
      times[size.size].push_back(*size.time());
    }
  }
  return times;
}

/// Of a size that was measured its own time, of another what a curve through them says.
std::optional<MeasuredTime> time_at(const std::optional<Measurement>& measured, Bytes size) {
  if (!measured) {
    return std::nullopt;
  }
  if (const auto own = measured->find(size); own != measured->end()) {
    const std::vector<Seconds>& times = own->second;
    return MeasuredTime{std::accumulate(times.begin(), times.end(), Seconds{}) /
                        static_cast<double>(times.size())};
  }
  std::vector<CurveSample> samples;
  for (const auto& [at, times] : *measured) {
    for (const Seconds time : times) {
      samples.push_back({at, time});
    }
  }
  const Curve curve = fit_curve(samples);
  return MeasuredTime{curve.time(size), name(curve.grade(size))};
}

View predicted_view(const CollectiveRequest& request, CollectiveDesk& desk) {
  CollectiveQuery query{.collective = collective_called(request.op),
                        .size = {},
                        .algorithm = request.algorithm,
                        .fidelity = chosen("--fidelity", request.fidelity, kNetworkFidelities)};
  const auto measured = measured_of(request, query.collective, desk.group().group.ranks());
  // Public timings are of what a library takes by itself, and predicted by the closed form.
  const bool is_usual = query.algorithm.empty() && query.fidelity == NetworkFidelity::closed &&
                        desk.groups() == 1 && request.servers == 0;
  const auto known = is_usual ? shipped_collective_support() : std::vector<CollectiveSupport>();
  std::vector<CollectiveResult> results;
  for (const Bytes size : sizes_of(request, measured)) {
    query.size = size;
    results.push_back({query,
                       desk.answer(query),
                       time_at(measured, size),
                       support_of(known,
                                  desk.cluster().chip.name,
                                  query.collective,
                                  desk.group().group.nodes > 1,
                                  size)});
  }
  const bool of_sizes = !request.to.empty() || results.size() > 1;
  return collective_view(desk.cluster(), desk, results, of_sizes);
}

View library_choices(const CollectiveRequest& request, const CollectiveDesk& desk) {
  constexpr std::array<Choice<bool>, 1> libraries = {{{"nccl", true}}};
  static_cast<void>(chosen("--library", request.library, libraries));
  const Cluster& cluster = desk.cluster();
  const Group& group = desk.group().group;
  if (!cluster.nccl) {
    throw InputError("--library nccl: " + cluster.name +
                     " has no \"library\" object that tells what NCCL sees of it");
  }
  if (group.ranks() < 2 || desk.groups() > 1) {
    throw InputError("--library nccl: expected one group of two ranks or more");
  }
  std::vector<LibraryResult> results;
  const Collective collective = collective_called(request.op);
  const auto measured = measured_of(request, collective, group.ranks());
  for (const Bytes size : sizes_of(request, measured)) {
    results.push_back(
        {size, choose(collective, size, group, *cluster.nccl), time_at(measured, size)});
  }
  const std::string what = std::string(name_of(collective)) + ", " + ranks_text(cluster, desk);
  return library_view(what, *cluster.nccl, results);
}

}  // namespace

std::span<const Option<CollectiveRequest>> collective_options() { return kCollectiveOptions; }

Answer ask(const CollectiveRequest& request) {
  const Cluster cluster = cluster_of(request.cluster);
  const std::vector<std::vector<int>> groups =
      each_of(request.ranks, [](const std::string& ranks) { return parse_devices(ranks); });
  CollectiveDesk desk(cluster, groups, static_cast<int>(request.servers));
  View view =
      request.library.empty() ? predicted_view(request, desk) : library_choices(request, desk);
  add_asked(request.cluster,
            {{"cluster", cluster.name},
             {"op", name_of(collective_called(request.op))},
             {"devices", listed(request.ranks, " ")}},
            view);
  return {.view = std::move(view)};
}

}  // namespace titer
