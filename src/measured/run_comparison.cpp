#include "titer/measured/run_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "titer/estimate/estimate.hpp"
#include "titer/input/defect.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/measured/measured_runs.hpp"
#include "titer/measured/support.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

// Readings of a row that are further apart than this are not one prediction.
constexpr double kMostSpread = 1.1;

/// Least and most of several readings.
struct Spread {
  double least = 0;
  double most = 0;

  void add(double value) {
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
  [[nodiscard]] bool is_narrow() const { return most <= kMostSpread * least; }
  [[nodiscard]] double middle() const { return std::sqrt(least * most); }
};

/// `overhead`: of the allocator, over what is allocated.
double peak_of(const StepResult& result, const RunRow& row, double overhead) {
  const MemoryCount counts = row.memory_count();
  const double reserve = counts == MemoryCount::reserved ? 1.0 + overhead : 1.0;
  Bytes most;
  for (const StageMemory& stage : result.memory) {
    if (stage.stage == 0 || !row.is_memory_of_first()) {
      most = std::max(most,
                      counts == MemoryCount::device ? stage.total() : reserve * stage.allocated());
    }
  }
  return most.si();
}

/// FLOPs per second and device as printed, or by their share of a peak: of numbers in 16 bits, of
/// others rows do not say whose peak. Nothing where a formula leaves attention out.
std::optional<FlopsPerSecond> printed_rate(const RunRow& row,
                                           const RunReadings& readings,
                                           FlopsPerSecond peak) {
  const DataType precision = readings.readings.front().scenarios.front().training.precision;
  const bool is_known = precision == DataType::bf16 || precision == DataType::fp16;
  if (row.says("tflops_kind", "params")) {
    return std::nullopt;
  }
  if (const auto rate = row.number("tflops_per_gpu"); rate && *rate > 0) {
    return *rate * 1_TFLOPps;
  }
  const auto stated = row.has("mfu_pct") ? row.number("mfu_pct") : row.number("hfu_pct");
  if (!is_known || !stated || *stated <= 0) {
    return std::nullopt;
  }
  const double percent = *stated < 1 ? 100 * *stated : *stated;  // 0.43 is no 0.43 %
  return percent / 100 * peak;
}

/// Whether the row's rates count what is computed twice.
bool counts_repeated(const RunRow& row) {
  return row.says("tflops_kind", "hardware") || row.says("tflops_kind", "recompute counted") ||
         (!row.has("tflops_per_gpu") && !row.has("mfu_pct"));
}

/// What rates of the row count of attention, by its own words or by its software's.
std::optional<CountedAttention> counted_attention(const RunRow& row, const RunReadings& readings) {
  if (row.says("tflops_kind", "non-causal") || row.says("tflops_kind", "SC21")) {
    return CountedAttention::full;
  }
  return row.says("tflops_kind", "causal") ? CountedAttention::causal : readings.rates;
}

void note_combination(const Scenario& scenario, Comparison& made) {
  Combination combination = combination_of(scenario);
  made.model = std::move(combination.model);
  made.chip_name = std::move(combination.chip);
  made.stack_name = std::move(combination.stack);
  made.precision = std::move(combination.precision);
}

class Comparer {
 public:
  Comparer(const std::filesystem::path& folder, const std::vector<Assignment>& changes)
      : reader_(folder, changes) {}

  [[nodiscard]] Comparison compare(const RunRow& row) {
    RunReadings readings;
    if (const auto defect = defect_met([&] { readings = reader_.read(row); })) {
      readings.skip_reason = defect_words(*defect);
    }
    return compare(row, readings);
  }

  /// The row as it was read, and how.
  [[nodiscard]] RunCase explain(const RunRow& row) {
    const RunReadings readings = reader_.read(row);
    RunCase found{.compared = compare(row, readings), .scenario = {}, .notes = {}};
    if (!readings.readings.empty()) {
      const RunReading& first = readings.readings.front();
      found.scenario = first.scenarios.front();
      if (readings.readings.size() > 1) {
        found.notes.push_back(
            fmt::format("{} not stated: read in {} ways, of which the terms are those of the first",
                        readings.open,
                        readings.readings.size()));
      }
      if (first.scenarios.size() > 1) {
        found.notes.push_back(
            fmt::format("micro-batches do not divide the batch: a mean of {} and {} a replica, of "
                        "which the terms are those of the first",
                        first.scenarios[0].micro_batches(),
                        first.scenarios[1].micro_batches()));
      }
    }
    return found;
  }

 private:
  Comparison compare(const RunRow& row, const RunReadings& readings) {
    Comparison made{.case_id = row.text("case_id"),
                    .family = row.text("family"),
                    .chip = row.text("hw_key"),
                    .stack = {},
                    .grade = row.text("grade"),
                    .sweep = row.sweep(),
                    .plan = row.plan()};
    if (const auto time = row.iteration_time()) {
      made.measured = time->si();
    }
    if (const auto memory = row.memory()) {
      made.memory_measured = memory->si();
    }
    made.stack = readings.stack;
    made.skip_reason = readings.skip_reason;
    if (made.skip_reason.empty() && !made.measured && !made.memory_measured &&
        !printed_rate(row, readings, 1_TFLOPps)) {
      made.skip_reason = "neither time nor memory measured";
    }
    if (made.skip_reason.empty()) {
      predict_or_skip(row, readings, made);
    }
    return made;
  }

  /// The time of an iteration whose FLOPs per second and device are printed, or which share these
  /// are of the device's peak: two where the row does not say how much of attention they count.
  [[nodiscard]] Spread time_at_rate(const RunRow& row, const RunReadings& readings) const {
    const auto counted = counted_attention(row, readings);
    const FlopsPerSecond model = result_.model_flops_per_device;
    const double share = model / *printed_rate(row, readings, model / result_.mfu);
    const double all = counts_repeated(row) ? result_.hfu / result_.mfu : 1.0;
    Spread time;
    for (const CountedAttention attention : {CountedAttention::full, CountedAttention::causal}) {
      if (counted.value_or(attention) == attention) {
        const double part =
            attention == CountedAttention::full ? 1.0 : result_.mfu_causal / result_.mfu;
        time.add(result_.iteration_time.si() * part * share * all);
      }
    }
    return time;
  }

  /// What one row cannot be answered for does not end the table.
  void predict_or_skip(const RunRow& row, const RunReadings& readings, Comparison& made) {
    try {
      if (const auto defect = defect_met([&] { predict(row, readings, made); })) {
        made.skip_reason = defect_words(*defect);
        estimator_ = Estimator();  // which may have kept half of an answer
      }
    } catch (const InputError& error) {
      made.skip_reason = error.what();
    }
  }

  void predict(const RunRow& row, const RunReadings& readings, Comparison& made) {
    Spread time;
    Spread memory;
    for (const RunReading& reading : readings.readings) {
      double sum = 0;
      for (std::size_t i = 0; i < reading.scenarios.size(); ++i) {
        estimator_.estimate(reading.scenarios[i], result_);
        sum += reading.weights[i] * result_.iteration_time.si();
      }
      time.add(sum);
      memory.add(peak_of(result_, row, reading.scenarios.front().stack.memory.allocator_overhead));
      note_room(made);
    }
    note_combination(readings.readings.front().scenarios.front(), made);
    if (!made.measured && !made.memory_measured) {
      const Spread at_rate = time_at_rate(row, readings);
      if (!at_rate.is_narrow()) {
        made.skip_reason =
            fmt::format("how much of attention rates count not stated: {:.3g} to {:.3g} s",
                        at_rate.least,
                        at_rate.most);
        return;
      }
      made.measured = at_rate.middle();
    }
    if (made.measured && !time.is_narrow()) {
      made.skip_reason =
          fmt::format("{} not stated: {:.3g} to {:.3g} s", readings.open, time.least, time.most);
      return;
    }
    if (made.measured) {
      made.predicted = time.middle();
      if (result_.error_bar) {
        made.interval = {
            .low = time.middle() * (result_.error_bar->low / result_.iteration_time),
            .high = time.middle() * (result_.error_bar->high / result_.iteration_time)};
      }
    }
    if (made.memory_measured && memory.is_narrow()) {
      made.memory_predicted = memory.middle();
    } else if (!made.measured) {
      made.skip_reason = fmt::format("{} not stated: {} to {}",
                                     readings.open,
                                     format(Bytes::from_si(memory.least)),
                                     format(Bytes::from_si(memory.most)));
    }
  }

  /// Of several readings that of which a device needs least.
  void note_room(Comparison& made) const {
    const double peak = result_.peak_stage().total().si();
    if (!made.peak || peak < *made.peak) {
      made.peak = peak;
      made.fits = result_.fits();
    }
  }

  RunReader reader_;
  Estimator estimator_;
  StepResult result_;
};

/// All but the plan, and what the row's columns change beside it: what rows have in common whose
/// plans are held against one another.
std::string sweep_of(const Scenario& scenario, const CsvTable& table, std::size_t row) {
  const Training& training = scenario.training;
  std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}{}",
                                scenario.model.title(),
                                scenario.cluster.name,
                                scenario.cluster.chip.name,
                                scenario.stack.name,
                                scenario.plan.devices(),
                                training.global_batch,
                                training.sequence,
                                training.precision_name(scenario.cluster.chip),
                                static_cast<int>(training.narrow_scaling));
  for (const std::string& column : table.columns()) {
    if (scenario_part(column) && !column.starts_with("plan")) {
      key += "|" + std::string(table.text(row, column));
    }
  }
  return key;
}

/// What a row says that its run's plan is.
std::string plan_of(const CsvTable& table, std::size_t row) {
  std::string plan = std::string(table.text(row, "run"));
  for (const std::string& column : table.columns()) {
    if (column.starts_with("plan")) {
      plan += "|" + std::string(table.text(row, column));
    }
  }
  return plan;
}

/// The row of named runs that this is, beside what is predicted of it.
Comparison compare_named(const MeasuredRun& run, const CsvTable& table, std::size_t row) {
  const StepResult result = estimate(run.scenario);
  Comparison made{.case_id = run.name,
                  .family = run.group,
                  .chip = run.scenario.cluster.chip.name,
                  .stack = run.scenario.stack.name,
                  .grade = {},
                  .sweep = sweep_of(run.scenario, table, row),
                  .plan = plan_of(table, row),
                  .measured = run.iteration_time.si(),
                  .predicted = result.iteration_time.si()};
  if (result.error_bar) {
    made.interval = {.low = result.error_bar->low.si(), .high = result.error_bar->high.si()};
  }
  note_combination(run.scenario, made);
  return made;
}

}  // namespace

std::vector<Comparison> compare_runs(const CsvTable& table,
                                     const std::filesystem::path& folder,
                                     const std::vector<Assignment>& changes) {
  check_run_table(table);
  Comparer comparer(folder, changes);
  std::vector<Comparison> all;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    all.push_back(comparer.compare(RunRow(table, i)));
  }
  return all;
}

std::vector<Comparison> compare_named_runs(const CsvTable& table,
                                           const std::filesystem::path& folder) {
  std::vector<Comparison> all;
  for (const MeasuredRun& run : read_named_runs(table, folder)) {
    all.push_back(compare_named(run, table, all.size()));
  }
  return all;
}

std::vector<RunCase> run_cases(const std::filesystem::path& path,
                               const std::string& name,
                               std::vector<std::string>& names) {
  const CsvTable table = load_dataset(path);
  std::vector<RunCase> found;
  if (table.has("case_id")) {
    check_run_table(table);
    Comparer comparer(path.parent_path(), {});
    for (std::size_t i = 0; i < table.rows(); ++i) {
      names.emplace_back(table.text(i, "case_id"));
      if (names.back() == name) {
        found.push_back(comparer.explain(RunRow(table, i)));
      }
    }
    return found;
  }
  std::size_t row = 0;
  for (const MeasuredRun& run : read_named_runs(table, path.parent_path())) {
    names.push_back(run.name);
    if (run.name == name) {
      found.push_back(
          {.compared = compare_named(run, table, row), .scenario = run.scenario, .notes = {}});
    }
    ++row;
  }
  return found;
}

}  // namespace titer
