#include "titer/study/sweep.hpp"

#include <algorithm>

namespace titer {
namespace {

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

}  // namespace

std::string_view name(PointStatus status) {
  switch (status) {
    case PointStatus::ok:
      return "ok";
    case PointStatus::out_of_memory:
      return "out-of-memory";
    case PointStatus::invalid:
      return "invalid";
  }
  return "";
}

std::size_t Sweep::points() const {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
  }
  return count;
}

std::vector<std::size_t> Sweep::indices(std::size_t point) const {
  std::vector<std::size_t> at(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    at[i] = point % axes[i].values.size();
    point /= axes[i].values.size();
  }
  return at;
}

SweepWorker::SweepWorker(const Sweep& sweep, Fidelity fidelity)
    : sweep_(&sweep), fidelity_(fidelity), source_(sweep.base) {}

void SweepWorker::put(std::size_t axis, std::size_t value) {
  const Axis& varied = sweep_->axes[axis];
  source_.assign({varied.path, varied.values[value], "axis " + varied.path});
}

void SweepWorker::read_scenario(std::size_t point) {
  const std::vector<std::size_t> at = sweep_->indices(point);
  if (sound_ && read_changes(at)) {
    return;
  }
  sound_ = false;  // until this point's scenario is complete
  source_ = sweep_->base;
  for (std::size_t i = 0; i < at.size(); ++i) {
    put(i, at[i]);
  }
  source_.read_unchecked(scenario_);
  at_ = at;
  sound_ = true;
}

/// False: something is wrong with this point, and only reading all of it tells everything that is,
/// whatever this worker computed before.
bool SweepWorker::read_changes(const std::vector<std::size_t>& at) {
  std::array<bool, kScenarioParts.size()> changed{};
  try {
    for (std::size_t i = 0; i < at.size(); ++i) {
      auto& part = changed[static_cast<std::size_t>(*scenario_part(sweep_->axes[i].path))];
      // A changed part may have replaced what a later axis of it put in.
      if (at[i] != at_[i] || part) {
        put(i, at[i]);
        part = true;
      }
    }
    // What a part leaves open follows another: the sequence the model, the data degree the cluster,
    // the devices of a node the cluster.
    const auto follows = [&](ScenarioPart part, ScenarioPart other) {
      changed[static_cast<std::size_t>(part)] |= changed[static_cast<std::size_t>(other)];
    };
    follows(ScenarioPart::training, ScenarioPart::model);
    follows(ScenarioPart::plan, ScenarioPart::cluster);
    follows(ScenarioPart::conditions, ScenarioPart::cluster);
    for (const Choice<ScenarioPart>& part : kScenarioParts) {
      if (changed[static_cast<std::size_t>(part.value)]) {
        source_.read_part(part.value, scenario_);
      }
    }
  } catch (const InputError&) {
    return false;
  }
  at_ = at;
  return true;
}

void SweepWorker::compute(std::size_t point, SweepPoint& into) {
  into.index = point;
  into.reason.clear();
  try {
    read_scenario(point);
    const std::vector<Violation> violations = validate(scenario_);
    if (!violations.empty()) {
      std::vector<std::string> lines;
      lines.reserve(violations.size());
      for (const Violation& violation : violations) {
        lines.push_back(violation.text());
      }
      throw InputError(std::move(lines));
    }
    evaluate(scenario_, fidelity_, estimator_, into.result);
    into.status = into.result.fits() ? PointStatus::ok : PointStatus::out_of_memory;
    if (!into.result.fits()) {
      into.reason = memory_sentence(into.result);
    }
  } catch (const InputError& error) {
    into.status = PointStatus::invalid;
    into.reason = join(error.lines);
  }
}

}  // namespace titer
