#include "titer/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sweep_reading.hpp"
#include "sweep_rules.hpp"
#include "sweep_software.hpp"
#include "titer/input/defect.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kColon = ": ";

/// FNV-1a of texts one after another. [Fowler, Noll, Vo]
class TextHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      take(static_cast<unsigned char>(c));
    }
    take(0);  // "ab", "c" is not "a", "bc"
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void take(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3U; }
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace

std::string_view name(PointStatus status) {
  switch (status) {
    case PointStatus::ok:
      return "ok";
    case PointStatus::out_of_memory:
      return "out-of-memory";
    case PointStatus::invalid:
      return "invalid";
    case PointStatus::defect:
      return "defect";
  }
  return "";
}

std::size_t Sweep::points() const {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.zipped ? 1 : axis.values.size();
  }
  return count;
}

std::vector<std::size_t> Sweep::indices(std::size_t point) const {
  std::vector<std::size_t> at;
  indices(point, at);
  return at;
}

void Sweep::indices(std::size_t point, std::vector<std::size_t>& at) const {
  at.resize(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::size_t size = axes[i].values.size();
    at[i] = point % size;
    point /= axes[i].zipped ? 1 : size;
  }
}

bool Sweep::has(SweepColumn column) const { return includes(columns, column); }

std::uint64_t Sweep::fingerprint() const {
  TextHash hash;
  hash.add(to_json(base.document().root, 0));
  for (const Axis& axis : axes) {
    hash.add(axis.path);
    hash.add(axis.zipped ? "zipped" : "");
    for (const Value& value : axis.values) {
      hash.add(to_json(value, 0));
    }
  }
  for (const DerivedField& field : derived) {
    hash.add(field.name);
    hash.add(field.expression);
    hash.add(field.unit);
  }
  for (const SweepConstraint& constraint : constraints) {
    hash.add(constraint.expression);
  }
  for (const SweepColumn column : columns) {
    hash.add(titer::name(column));
  }
  return hash.value();
}

struct SweepWorker::Working {
  /// memory_sentence() of one result after the other: many of a sweep's plans need the same memory.
  class MemorySentences {
   public:
    const std::string& of(const StepResult& result) {
      const StageMemory& stage = result.peak_stage();
      const bool same = capacity_ == result.memory_capacity && tiers_ == result.tiers &&
                        stage_.stage == stage.stage &&
                        std::ranges::all_of(kMemoryParts, [&](const auto& part) {
                          return stage_.*part.value == stage.*part.value;
                        });
      if (text_.empty() || !same) {
        stage_ = stage;
        capacity_ = result.memory_capacity;
        tiers_ = result.tiers;
        text_ = memory_sentence(result);
      }
      return text_;
    }

   private:
    StageMemory stage_;
    Bytes capacity_;
    std::vector<TierNeed> tiers_;
    std::string text_;
  };

  const Sweep* sweep;
  std::optional<Fidelity> fidelity;
  std::size_t points;
  SweepRules rules;
  std::optional<SweepReading> reading;
  SweepSoftware software;
  Estimator estimator{};
  std::vector<std::uint64_t> left_out;
  std::vector<std::size_t> at{};
  // Of the point evaluated last in closed form, what is no figure of the plan: values of axes and
  // derived fields.
  std::vector<double> beside_plan{};
  MemorySentences memory_sentences{};

  Working(const Sweep& of, std::optional<Fidelity> with)
      : sweep(&of),
        fidelity(with),
        points(of.points()),
        rules(of),
        reading(std::in_place, of),
        software(of),
        left_out(of.constraints.size()) {}

  /// What may be otherwise than at the point evaluated last.
  [[nodiscard]] Changed changed(const SweepPoint& point);

  /// The status and result of a point that the rules are at.
  void compute_point(SweepPoint& into);
  void evaluate_point(const Scenario& scenario, SweepPoint& into);
  /// How many points in a row have the values of the first `axes` axes in common.
  [[nodiscard]] std::size_t block(std::size_t axes) const;
};

std::size_t SweepWorker::Working::block(std::size_t axes) const {
  std::size_t size = 1;
  for (std::size_t i = axes; i < sweep->axes.size(); ++i) {
    size *= sweep->axes[i].zipped ? 1 : sweep->axes[i].values.size();
  }
  return size;
}

Changed SweepWorker::Working::changed(const SweepPoint& point) {
  bool same = !beside_plan.empty();
  beside_plan.resize(sweep->axes.size() + sweep->derived.size() + 1);
  const auto compare = [&](std::size_t i, std::string_view path, double value) {
    if (const auto part = scenario_part(path); part && *part != ScenarioPart::plan) {
      same = same && beside_plan[i] == value;
      beside_plan[i] = value;
    }
  };
  for (std::size_t i = 0; i < sweep->axes.size(); ++i) {
    compare(i, sweep->axes[i].path, static_cast<double>(point.at[i]));
  }
  for (std::size_t i = 0; i < sweep->derived.size(); ++i) {
    compare(sweep->axes.size() + i, sweep->derived[i].name, point.derived[i]);
  }
  return same ? Changed::plan : Changed::anything;
}

void SweepWorker::Working::compute_point(SweepPoint& into) {
  into.status = PointStatus::invalid;
  const Scenario* scenario = nullptr;
  std::optional<std::string> defect = defect_met([&] { scenario = reading->read(into.at, rules); });
  if (defect) {
    reading.emplace(*sweep);  // what it had in work is lost
  } else if (scenario == nullptr) {
    into.reason = reading->problem();
  } else {
    defect = defect_met([&] { evaluate_point(*scenario, into); });
  }
  if (defect) {
    estimator = Estimator();
    beside_plan.clear();
    into.status = PointStatus::defect;
    into.reason = "a defect of the program: " + *defect;
  }
}

void SweepWorker::Working::evaluate_point(const Scenario& scenario, SweepPoint& into) {
  for (const Violation& violation : validate(scenario)) {
    into.reason += into.reason.empty() ? "" : "; ";
    for (const std::string_view part : {std::string_view(violation.path),
                                        kColon,
                                        std::string_view(violation.value),
                                        kColon,
                                        std::string_view(violation.expected)}) {
      into.reason += part;
    }
  }
  if (!into.reason.empty()) {
    return;
  }
  try {
    const Fidelity taken = fidelity.value_or(usual_fidelity(scenario));
    const Changed since = taken == Fidelity::closed ? changed(into) : Changed::anything;
    evaluate(scenario, taken, since, estimator, into.result);
  } catch (const InputError& error) {
    beside_plan.clear();  // nothing was evaluated
    for (const std::string& line : error.lines) {
      add_listed(into.reason, line, "; ");
    }
    return;
  }
  into.beyond = listed(beyond_software(software.abilities(into.at), scenario));
  into.status = into.result.fits() ? PointStatus::ok : PointStatus::out_of_memory;
  if (!into.result.fits()) {
    into.reason = memory_sentences.of(into.result);
  }
}

SweepWorker::SweepWorker(const Sweep& sweep, std::optional<Fidelity> fidelity)
    : working_(std::make_unique<Working>(sweep, fidelity)) {}
SweepWorker::SweepWorker(SweepWorker&& other) noexcept = default;
SweepWorker& SweepWorker::operator=(SweepWorker&& other) noexcept = default;
SweepWorker::~SweepWorker() = default;

bool SweepWorker::compute(std::size_t point, SweepPoint& into) {
  Working& working = *working_;
  working.sweep->indices(point, into.at);
  if (const auto refused = working.rules.move_to(into.at)) {
    ++working.left_out[refused->constraint];
    return false;
  }
  into.index = point;
  into.reason.clear();
  into.beyond.clear();
  into.derived.resize(working.sweep->derived.size());
  for (std::size_t i = 0; i < into.derived.size(); ++i) {
    into.derived[i] = working.rules.derived(i);
  }
  working.compute_point(into);
  if (into.status == PointStatus::defect) {
    return true;
  }
  const auto refused = into.status == PointStatus::invalid ? working.rules.refused_without_result()
                                                           : working.rules.refused_by(into.result);
  if (refused) {
    ++working.left_out[*refused];
  }
  return !refused;
}

std::size_t SweepWorker::next_kept(std::size_t point, std::size_t end) {
  Working& working = *working_;
  while (point < end) {
    working.sweep->indices(point, working.at);
    const auto refused = working.rules.move_to(working.at);
    if (!refused) {
      return point;
    }
    const std::size_t block = working.block(refused->axes);
    const std::size_t next = std::min(end, (point / block + 1) * block);
    working.left_out[refused->constraint] += next - point;
    point = next;
  }
  return end;
}

const std::vector<std::uint64_t>& SweepWorker::left_out() const { return working_->left_out; }

std::vector<std::string> left_out_lines(const Sweep& sweep,
                                        std::span<const std::uint64_t> left_out) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (left_out[i] > 0) {
      lines.push_back(fmt::format("{}: {}: leaves out {} of {} points",
                                  sweep.constraints[i].where,
                                  sweep.constraints[i].expression,
                                  left_out[i],
                                  sweep.points()));
    }
  }
  return lines;
}

void refuse_empty(const Sweep& sweep, std::span<const std::uint64_t> left_out) {
  std::vector<std::string> lines = left_out_lines(sweep, left_out);
  for (std::string& line : lines) {
    line += "; expected constraints that some point satisfies";
  }
  throw InputError(std::move(lines));
}

}  // namespace titer
