// Reading configs/reliability.

#include "titer/campaign/file_schemas.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/hardware/noted_fields.hpp"
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

/// A time above zero.
template <auto Member, class T = fields::ObjectOf<Member>>
constexpr Field<T> span_of_time(std::string_view key, std::string_view about) {
  return fields::figure<Member, T>(key, about)
      .read_by([](const Field<T>& own, Reader& in, T& object) {
        const auto time = own.required ? std::optional(in.quantity<Seconds>(own.key))
                                       : in.maybe_quantity<Seconds>(own.key);
        if (in.has(own.key) && time == Seconds{}) {
          in.fail(own.key, "expected a time above zero");
        }
        if (time) {
          object.*Member = *time;
        }
      });
}

constexpr std::array kObservationFields = {
    fields::figure<&Observation::devices>("devices", {1, 1e9}, "that were watched").needed(),
    fields::figure<&Observation::devices_per_node>("devices_per_node", {1, 1e9}, "of these")
        .needed(),
    span_of_time<&Observation::time>("time", "for how long").needed()};

/// A component as its file has it.
struct WrittenComponent : Component {
  std::optional<Seconds> own_mtbf{};
  std::optional<double> interruptions{};
};
using W = WrittenComponent;
constexpr std::array kComponentFields = {
    fields::text<&W::name, W>("name", "of the component").needed(),
    fields::choice<&W::per, kFailureUnits, W>("per", "what it comes once for").needed(),
    fields::choice<&W::failure, kFailures, W>("failure", "what it takes with it when it fails")
        .needed(),
    fields::number<&W::count, W>("count", {1e-6, 1e6}, "of them per unit"),
    span_of_time<&W::own_mtbf>("mtbf", "of one; or `interruptions`"),
    fields::figure<&W::interruptions>(
        "interruptions", {1e-9, 1e12}, "by it, of the devices and in the time of `observed`")};

Seconds mtbf_of(const W& written, const std::optional<Observation>& observed, Reader& in) {
  if (in.has("mtbf") == in.has("interruptions")) {
    in.fail("", "expected either a mtbf or the interruptions that were observed");
    return {};
  }
  if (in.has("mtbf")) {
    return written.own_mtbf.value_or(Seconds{});
  }
  if (!observed) {
    in.fail("interruptions", "expected \"observed\": the devices and the time that they are of");
    return {};
  }
  return observed->units(written.per) * written.count / written.interruptions.value_or(1) *
         observed->time;
}

struct WrittenReliability : Reliability {
  std::optional<Observation> observed{};
};
using F = WrittenReliability;

void read_components(const Field<F>& own, Reader& in, F& file) {
  bool fails = false;
  for (Reader& one : in.objects(own.key)) {
    W written;
    const std::string name = one.has("name") ? one.raw("name")->text : "";
    read_noted<W>(kComponentFields, one, "components." + name + ".", file.evidence, written);
    written.mtbf = mtbf_of(written, file.observed, one);
    fails = fails || written.failure != Failure::planned;
    file.components.push_back(std::move(written));
  }
  if (!fails && in.has(own.key)) {
    in.fail(own.key, "expected a component or more that fails, its failure not planned");
  }
}

using P = CheckpointPolicy;
constexpr std::array kCheckpointFields = {
    fields::figure<&P::storage_bandwidth>("storage_bandwidth", "of the whole storage").needed(),
    fields::figure<&P::node_bandwidth>("node_bandwidth", "of a node to it").needed(),
    fields::figure<&P::pause>("pause", "of training at every checkpoint, however large"),
    fields::flag<&P::asynchronous>("asynchronous",
                                   "training stops for a copy in the hosts' memory only"),
    fields::quantity<&P::copy_bandwidth>("copy_bandwidth", "of a device to that copy")
        .or_else("the chip's host link"),
    fields::choice<&P::rule, kIntervalRules>("rule", "what sets when one is written"),
    span_of_time<&P::interval>("interval", "between two, whatever the rule says")};

constexpr std::array kRestartFields = {
    span_of_time<&F::detect, F>("detect", "of a failure").needed(),
    span_of_time<&F::reschedule, F>("reschedule", "on other nodes").needed(),
    span_of_time<&F::start, F>("start", "of the job, without loading its state").needed()};

constexpr std::array kSpareFields = {
    fields::figure<&Spares::share>("share", {0, 1}, "of the nodes, rounded up").needed(),
    span_of_time<&Spares::repair>("repair", "of a node, on average").needed(),
    fields::choice<&Spares::without, kWithoutSpares>(
        "without", "what happens when more nodes are being repaired than there are spare ones")
        .needed()};

constexpr std::array kSlowDeviceFields = {
    span_of_time<&SlowDevices::mtbf>("mtbf", "of a device, to becoming slow").needed(),
    fields::figure<&SlowDevices::slowdown>("slowdown", {1, 1e6}, "of the iteration").needed(),
    span_of_time<&SlowDevices::detect>("detect", "until it is found and replaced").needed()};

constexpr std::array kReliabilityFields = {
    fields::text<&F::name, F>("name", "of the record").needed(),
    fields::text<&F::title, F>("title", "the same for people").or_else("its name"),
    fields::text<&F::date, F>("date", "when it held").needed(),
    fields::sources<&F::evidence, F>(),
    fields::part<&F::observed, kObservationFields, &F::evidence, fields::kNoPath, F>(
        "observed", "devices that were watched, from whose interruptions times follow"),
    fields::special<F>(
        "components",
        {read_components,
         [](const Field<F>& /*own*/) { return schema::list_of(schema_of<W>(kComponentFields)); },
         nullptr},
        "what fails, and how often")
        .needed(),
    fields::part<&F::checkpoint, kCheckpointFields, &F::evidence, fields::kNoPath, F>(
        "checkpoint", "how state is kept")
        .needed(),
    fields::special<F>("restart",
                       {[](const Field<F>& own, Reader& in, F& file) {
                          Reader restart = in.object(own.key);
                          read_noted<F>(kRestartFields, restart, "restart.", file.evidence, file);
                        },
                        [](const Field<F>& /*own*/) { return schema_of<F>(kRestartFields); },
                        nullptr},
                       "what a restart takes")
        .needed(),
    fields::part<&F::spares, kSpareFields, &F::evidence, fields::kNoPath, F>("spares",
                                                                             "nodes kept ready")
        .needed(),
    fields::part<&F::slow_devices, kSlowDeviceFields, &F::evidence, fields::kNoPath, F>(
        "stragglers", "devices that become slow and hold up all others")};

}  // namespace

Value reliability_schema() { return schema_of<WrittenReliability>(kReliabilityFields); }

Reliability read_reliability(Reader& in) {
  WrittenReliability file;
  read_noted<WrittenReliability>(kReliabilityFields, in, "", file.evidence, file);
  if (file.title.empty()) {
    file.title = file.name;
  }
  return static_cast<Reliability&&>(file);
}

Reliability load_reliability(std::string_view name_or_file) {
  return read_document(load_data(kReliabilityData, name_or_file), read_reliability);
}

}  // namespace titer
