// Reading configs/reliability.

#include <fmt/format.h>

#include <algorithm>

#include "titer/campaign/goodput.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace {

/// Devices that were watched, from which a component's interruptions make its mtbf.
struct Observation {
  double devices = 0;
  double devices_per_node = 1;
  Seconds time;

  [[nodiscard]] double units(FailureUnit per) const {
    switch (per) {
      case FailureUnit::device:
        return devices;
      case FailureUnit::node:
        return devices / devices_per_node;
      case FailureUnit::job:
        break;
    }
    return 1;
  }
};

/// Figures of one object, noted under its path. Times are above zero.
class NotedFigures {
 public:
  NotedFigures(Reader& in, std::string path, EvidenceList& evidence)
      : in_(in), path_(std::move(path)), evidence_(evidence) {}

  [[nodiscard]] double number(std::string_view key, double least, double most) {
    const double value = in_.number(key, least, most);
    note(key);
    return value;
  }
  [[nodiscard]] Seconds time(std::string_view key) {
    const auto value = in_.quantity<Seconds>(key);
    if (in_.has(key) && value == Seconds{}) {
      in_.fail(key, "expected a time above zero");
    }
    note(key);
    return value;
  }
  [[nodiscard]] BytesPerSecond bandwidth(std::string_view key) {
    const auto value = in_.quantity<BytesPerSecond>(key);
    note(key);
    return value;
  }

 private:
  void note(std::string_view key) {
    if (in_.has(key)) {
      evidence_.note(in_, key, path_ + std::string(key));
    }
  }

  Reader& in_;
  std::string path_;
  EvidenceList& evidence_;
};

std::optional<Observation> read_observation(Reader& in, EvidenceList& evidence) {
  auto written = in.maybe_object("observed");
  if (!written) {
    return std::nullopt;
  }
  NotedFigures figures(*written, "observed.", evidence);
  Observation observed;
  observed.devices = figures.number("devices", 1, 1e9);
  observed.devices_per_node = figures.number("devices_per_node", 1, 1e9);
  observed.time = figures.time("time");
  written->finish();
  return observed;
}

Seconds read_mtbf(Reader& in,
                  const Component& component,
                  const std::optional<Observation>& observed,
                  NotedFigures& figures) {
  if (in.has("mtbf") == in.has("interruptions")) {
    in.fail("", "expected either a mtbf or the interruptions that were observed");
    static_cast<void>(in.raw("mtbf"));
    static_cast<void>(in.raw("interruptions"));
    return {};
  }
  if (in.has("mtbf")) {
    return figures.time("mtbf");
  }
  const double interruptions = figures.number("interruptions", 1e-9, 1e12);
  if (!observed) {
    in.fail("interruptions", "expected \"observed\": the devices and the time that they are of");
    return {};
  }
  return observed->units(component.per) * component.count / interruptions * observed->time;
}

void read_components(Reader& in, Reliability& reliability) {
  const std::optional<Observation> observed = read_observation(in, reliability.evidence);
  bool fails = false;
  for (Reader& written : in.objects("components")) {
    Component component{.name = written.text("name")};
    NotedFigures figures(written, "components." + component.name + ".", reliability.evidence);
    component.per = written.choice<FailureUnit>("per", kFailureUnits);
    component.failure = written.choice<Failure>("failure", kFailures);
    component.count = written.maybe_number("count", 1e-6, 1e6).value_or(1);
    component.mtbf = read_mtbf(written, component, observed, figures);
    fails = fails || component.failure != Failure::planned;
    written.finish();
    reliability.components.push_back(std::move(component));
  }
  if (!fails && in.has("components")) {
    in.fail("components", "expected a component or more that fails, its failure not planned");
  }
}

CheckpointPolicy read_checkpoint(Reader in, EvidenceList& evidence) {
  NotedFigures figures(in, "checkpoint.", evidence);
  CheckpointPolicy policy;
  policy.storage_bandwidth = figures.bandwidth("storage_bandwidth");
  policy.node_bandwidth = figures.bandwidth("node_bandwidth");
  policy.pause = in.maybe_quantity<Seconds>("pause").value_or(Seconds{});
  if (in.has("pause")) {
    evidence.note(in, "pause", "checkpoint.pause");
  }
  policy.asynchronous = in.flag("asynchronous", false);
  policy.copy_bandwidth = in.maybe_quantity<BytesPerSecond>("copy_bandwidth");
  policy.rule = in.maybe_choice<IntervalRule>("rule", kIntervalRules).value_or(policy.rule);
  if (in.has("interval")) {
    policy.interval = figures.time("interval");
  }
  in.finish();
  return policy;
}

void read_restart(Reader in, Reliability& reliability) {
  NotedFigures figures(in, "restart.", reliability.evidence);
  reliability.detect = figures.time("detect");
  reliability.reschedule = figures.time("reschedule");
  reliability.start = figures.time("start");
  in.finish();
}

Spares read_spares(Reader in, EvidenceList& evidence) {
  NotedFigures figures(in, "spares.", evidence);
  Spares spares;
  spares.share = figures.number("share", 0, 1);
  spares.repair = figures.time("repair");
  spares.without = in.choice<WithoutSpare>("without", kWithoutSpares);
  in.finish();
  return spares;
}

SlowDevices read_slow_devices(Reader in, EvidenceList& evidence) {
  NotedFigures figures(in, "stragglers.", evidence);
  SlowDevices slow;
  slow.mtbf = figures.time("mtbf");
  slow.slowdown = figures.number("slowdown", 1, 1e6);
  slow.detect = figures.time("detect");
  in.finish();
  return slow;
}

}  // namespace

Reliability read_reliability(Reader& in) {
  Reliability reliability{.name = in.text("name")};
  reliability.title = in.maybe_text("title").value_or(reliability.name);
  reliability.date = in.text("date");
  reliability.evidence.read_sources(in);
  read_components(in, reliability);
  reliability.checkpoint = read_checkpoint(in.object("checkpoint"), reliability.evidence);
  read_restart(in.object("restart"), reliability);
  reliability.spares = read_spares(in.object("spares"), reliability.evidence);
  if (auto slow = in.maybe_object("stragglers")) {
    reliability.slow_devices = read_slow_devices(std::move(*slow), reliability.evidence);
  }
  in.finish();
  return reliability;
}

Reliability load_reliability(std::string_view name_or_file) {
  return read_document(load_data(kReliabilityData, name_or_file), read_reliability);
}

}  // namespace titer
