// Measured collectives as data of a cluster's or network's calibration.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "titer/calibrate/calibration_data.hpp"
#include "titer/input/reader.hpp"
#include "titer/measured/collective/measured_collective.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// The sizes of one table, on one group of devices.
struct CollectiveRows {
  std::vector<int> devices;
  Collective collective = Collective::all_reduce;
  std::vector<Bytes> sizes;
};
/// Row by row: the table, and which of its sizes.
struct Place {
  std::size_t table = 0;
  Bytes size;
};

MeasuredCollective load_collective(const std::filesystem::path& path) {
  return path.extension() == ".csv" ? load_collective_table(path) : load_nccl_tests(path);
}

/// The document's cluster; a network's takes the place of the named one's.
Cluster cluster_of(const Document& document, const std::string& name) {
  Document run;
  run.root = Value::make_object();
  if (name.empty()) {
    run.root.add("cluster", adopt(run, document));
  } else {
    run.root.add("cluster", Value(name));
  }
  ScenarioSource source(std::move(run));
  if (!name.empty()) {
    source.assign({"cluster.network", document.root, "the network that is fitted"});
  }
  Scenario scenario;
  source.read_part(ScenarioPart::cluster, scenario);
  return std::move(scenario.cluster);
}

/// As many on every node, the first of each.
std::vector<int> devices_of(const MeasuredCollective& measured,
                            const Cluster& cluster,
                            const std::string& file) {
  if (!measured.collective) {
    throw InputError(file + ": \"" + measured.operation +
                     "\": expected a collective: all-reduce, " +
                     "all-gather, reduce-scatter, all-to-all, broadcast, reduce or send-recv");
  }
  const int ranks = measured.ranks.value_or(0);
  const int per_node = cluster.devices_per_node;
  const int nodes = measured.nodes.value_or((ranks + per_node - 1) / per_node);
  if (ranks < 2 || ranks % nodes != 0 || ranks / nodes > per_node) {
    throw InputError(file + ": " + std::to_string(ranks) + " ranks on " + std::to_string(nodes) +
                     " nodes: expected two or more, as many on every node, and no more than the " +
                     std::to_string(per_node) + " devices of one of " + cluster.name);
  }
  std::vector<int> devices;
  devices.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    devices.push_back(rank / (ranks / nodes) * per_node + rank % (ranks / nodes));
  }
  return devices;
}

}  // namespace

bool crosses_nodes(std::span<const std::filesystem::path> files) {
  return std::ranges::any_of(files, [](const std::filesystem::path& file) {
    return load_collective(file).nodes.value_or(1) > 1;
  });
}

CalibrationData collective_data(std::span<const std::filesystem::path> files,
                                const Document& base,
                                const std::string& cluster,
                                Bytes least) {
  const Cluster machine = cluster_of(base, cluster);
  CalibrationData data;
  data.what = "collectives";
  auto tables = std::make_shared<std::vector<CollectiveRows>>();
  auto places = std::make_shared<std::vector<Place>>();
  for (const std::filesystem::path& file : files) {
    const MeasuredCollective measured = load_collective(file);
    tables->push_back({devices_of(measured, machine, file.string()), *measured.collective, {}});
    data.files.push_back(file.filename().string());
    data.skipped += static_cast<std::size_t>(measured.skipped);
    for (const MeasuredSize& size : measured.sizes) {
      const bool is_used = size.time() && *size.time() > Seconds{} && size.size > Bytes{};
      if (!is_used || size.size < least) {
        ++data.skipped;
        continue;
      }
      places->push_back({tables->size() - 1, size.size});
      data.measured.push_back(size.time()->si());
      data.groups.push_back(file.stem().string());
    }
  }
  if (places->empty()) {
    throw InputError("the tables hold no collective of that size or more");
  }
  const auto [low, high] =
      std::minmax_element(places->begin(), places->end(), [](const Place& a, const Place& b) {
        return a.size < b.size;
      });
  data.range = format(low->size) + " to " + format(high->size);
  data.predict = [tables, places, cluster](const Document& document,
                                           std::span<const std::size_t> rows,
                                           std::span<double> seconds) {
    const Cluster fitted = cluster_of(document, cluster);
    std::vector<std::optional<CollectiveDesk>> desks(tables->size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Place& place = (*places)[rows[i]];
      const CollectiveRows& table = (*tables)[place.table];
      auto& desk = desks[place.table];
      if (!desk) {
        desk.emplace(fitted, std::vector<std::vector<int>>{table.devices});
      }
      seconds[i] =
          desk->answer({.collective = table.collective, .size = place.size, .algorithm = {}})
              .time.si();
    }
  };
  return data;
}

}  // namespace titer
