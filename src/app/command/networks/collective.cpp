#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>

#include "app/command.hpp"
#include "titer/collectives/curve.hpp"
#include "titer/measured/measured_collective.hpp"
#include "titer/report/network/collective_report.hpp"
#include "titer/report/network/library_report.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

struct CollectiveOptions {
  std::string cluster;
  std::vector<std::string> sets;
  std::string op;
  std::string bytes;
  std::string to;
  double factor = 2.0;
  std::vector<std::string> ranks;
  std::string algorithm;
  int servers = 0;
  std::string fidelity = "closed";
  std::string library;
  std::string measured;
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// By the names of nccl-tests (all_reduce) or ours (all-reduce).
Collective collective_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  std::array<Choice<Collective>, kCollectives.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i] = {name_of(kCollectives[i]), kCollectives[i]};
  }
  return chosen("--op", name, choices);
}

Bytes size_of(std::string_view option, const std::string& text) {
  const std::optional<Bytes> size = parse<Bytes>(text);
  if (!size || *size < Bytes{}) {
    throw InputError(std::string(option) + ": " + text + ": expected " +
                     std::string(example<Bytes>()));
  }
  return *size;
}

/// What --measured has, as a curve and as its sizes.
struct Measurement {
  Curve curve;
  std::vector<Bytes> sizes;
};

/// From --bytes to --to by --factor; only --bytes without --to; those measured without either.
std::vector<Bytes> sizes_of(const CollectiveOptions& options,
                            const std::optional<Measurement>& measured) {
  if (options.bytes.empty()) {
    if (!measured || !options.to.empty()) {
      throw InputError("--bytes: expected the full result, such as 64MiB" +
                       std::string(measured ? "" : ", or a --measured file that has sizes"));
    }
    return measured->sizes;
  }
  const Bytes first = size_of("--bytes", options.bytes);
  if (options.to.empty()) {
    return {first};
  }
  const Bytes last = size_of("--to", options.to);
  if (!(options.factor > 1.0) || !(first > Bytes{}) || last < first) {
    throw InputError(
        "--to: a sweep over sizes goes up: expected --bytes above 0, --to no less, --factor above "
        "1");
  }
  std::vector<Bytes> sizes;
  // The last size is met in spite of rounding.
  for (Bytes size = first; size <= last * (1 + 1e-9); size = options.factor * size) {
    sizes.push_back(size);
  }
  return sizes;
}

Cluster cluster_of(const CollectiveOptions& options) {
  std::vector<Assignment> changes;
  for (const std::string& set : options.sets) {
    changes.push_back(parse_assignment(set));
  }
  return load_cluster(Value(options.cluster), changes);
}

/// What nccl-tests printed, if a file of it is given; it must be of the same collective and number
/// of ranks, as far as the file tells.
std::optional<Measurement> measured_of(const CollectiveOptions& options,
                                       Collective collective,
                                       int ranks) {
  const std::string& path = options.measured;
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
  std::vector<CurveSample> samples;
  std::set<Bytes> sizes;
  for (const MeasuredSize& size : measured.sizes) {
    if (size.size > Bytes{} && size.time() && *size.time() > Seconds{}) {
      samples.push_back({size.size, *size.time()});
      sizes.insert(size.size);
    }
  }
  return Measurement{fit_curve(samples), {sizes.begin(), sizes.end()}};
}

std::optional<MeasuredTime> time_at(const std::optional<Measurement>& measured, Bytes size) {
  return measured
             ? std::optional(MeasuredTime{measured->curve.time(size), measured->curve.grade(size)})
             : std::nullopt;
}

View predicted(const CollectiveOptions& options, CollectiveDesk& desk) {
  CollectiveQuery query{.collective = collective_of(options.op),
                        .size = {},
                        .algorithm = options.algorithm,
                        .fidelity = chosen("--fidelity", options.fidelity, kNetworkFidelities)};
  const auto measured = measured_of(options, query.collective, desk.group().group.ranks());
  std::vector<CollectiveResult> results;
  for (const Bytes size : sizes_of(options, measured)) {
    query.size = size;
    results.push_back({query, desk.answer(query), time_at(measured, size)});
  }
  const bool of_sizes = !options.to.empty() || results.size() > 1;
  return collective_view(desk.cluster(), desk, results, of_sizes);
}

View by_library(const CollectiveOptions& options, const CollectiveDesk& desk) {
  constexpr std::array<Choice<bool>, 1> libraries = {{{"nccl", true}}};
  static_cast<void>(chosen("--library", options.library, libraries));
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
  const Collective collective = collective_of(options.op);
  const auto measured = measured_of(options, collective, group.ranks());
  for (const Bytes size : sizes_of(options, measured)) {
    results.push_back(
        {size, choose(collective, size, group, *cluster.nccl), time_at(measured, size)});
  }
  const std::string what = std::string(name_of(collective)) + ", " + ranks_text(cluster, desk);
  return library_view(what, results);
}

int collective_command(const CollectiveOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  const Cluster cluster = cluster_of(options);
  std::vector<std::vector<int>> groups;
  for (const std::string& ranks : options.ranks) {
    groups.push_back(parse_devices(ranks));
  }
  CollectiveDesk desk(cluster, groups, options.servers);
  return print(
      format,
      {.view = options.library.empty() ? predicted(options, desk) : by_library(options, desk)},
      *options.report);
}

}  // namespace

Command add_collective(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "collective", "What a collective takes among some devices of a cluster, and why");
  const auto options = std::make_shared<CollectiveOptions>();
  app->add_option("--cluster", options->cluster, "a cluster file, or the name of a shipped one")
      ->required()
      ->type_name("CLUSTER");
  app->add_option("--op",
                  options->op,
                  "all_reduce, all_gather, reduce_scatter, all_to_all, "
                  "broadcast, reduce or send_recv")
      ->required()
      ->type_name("OP");
  app->add_option("--bytes",
                  options->bytes,
                  "the full result, such as 64MiB; left out with --measured: the sizes in its file")
      ->type_name("SIZE");
  app->add_option("--to", options->to, "sweep from --bytes to this size")->type_name("SIZE");
  app->add_option("--factor", options->factor, "from one size of the sweep to the next")
      ->type_name("F");
  app->add_option("--ranks",
                  options->ranks,
                  "devices, numbered node by node: 0-15, 0,8,16 or 0-63:8; several times: groups "
                  "that run at the same time")
      ->required()
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("RANKS");
  app->add_option("--algorithm", options->algorithm, "one of `titer list algorithms`")
      ->type_name("NAME");
  app->add_option("--servers", options->servers, "parameter servers beside the ranks, one per node")
      ->check(CLI::Range(0, 4096))
      ->type_name("M");
  app->add_option("--fidelity",
                  options->fidelity,
                  "closed: the formula; busiest: each round as long as its busiest link; flow: "
                  "messages that share the links")
      ->type_name("HOW");
  app->add_option("--library",
                  options->library,
                  "nccl: which algorithm, protocol and channels NCCL's tuner would take")
      ->type_name("NAME");
  app->add_option("--measured",
                  options->measured,
                  "what nccl-tests printed of this collective: a two-piece curve through it is "
                  "shown beside the prediction")
      ->type_name("FILE");
  app->add_option("--set",
                  options->sets,
                  "put a value at a path, such as "
                  "cluster.node.nic_bandwidth=\"400 Gbps\"")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  add_format(*app, options->format, *options->report);
  options->report->add_plot_to(*app);
  return {app, [options] { return collective_command(*options); }, options->report};
}

}  // namespace titer
