#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "explained_run.hpp"
#include "titer/ask/evidence.hpp"
#include "titer/ask/option.hpp"
#include "titer/calibrate/posterior_trial.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/report/evidence/posterior_report.hpp"
#include "titer/report/evidence/validation_report.hpp"
#include "titer/report/picture/validation_plot.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::array kValidateOptions = {
    options::texts<&ValidateRequest::datasets>(
        "datasets",
        "DATASET.csv",
        "tables of tests/data/measured, or others with their columns: training runs (of your own: "
        "run, a file or a shipped run, iter_time_s and perhaps family), collectives, kernels")
        .first()
        .file(),
    options::text<&ValidateRequest::by>("by", "NAME", "also statistics by family, chip or stack"),
    options::texts<&ValidateRequest::families>(
        "family", "NAME", "only rows of this family; may be repeated"),
    options::integer<&ValidateRequest::worst>("worst", "N", "rows to list that are farthest off")
        .or_else("10")
        .within({0, 1'000'000}),
    options::flag<&ValidateRequest::rows>("rows", "list every row in text; csv and json always do"),
    options::number<&ValidateRequest::fail_above>(
        "fail_above",
        "PCT",
        "exit with 1 if the mean error of all rows is larger, in percent, or if no row could be "
        "compared")
        .within({0, 1e9}),
    options::integer<&ValidateRequest::given>(
        "given",
        "N",
        "instead: how far off the runs of each family are when N others of it are known, as "
        "--measured of other commands takes them")
        .within({1, 1000}),
    options::text<&ValidateRequest::explain>(
        "explain",
        "ROW",
        "instead: what the run of that name was read as, and every term of its prediction"),
    options::texts<&ValidateRequest::measured>(
        "measured",
        "PRODUCTS.csv",
        "of tables of kernels: products of their chip that were measured before (dtype, m, n, k, "
        "time_us), as --measured of other commands takes them; may be repeated")
        .file(),
    options::texts<&ValidateRequest::trace>(
        "trace",
        "FILE",
        "instead of tables: a measured step, as `titer trace` takes it; repeatable")
        .file(),
    options::asked<&ValidateRequest::scenario>(
        "scenario", "SCENARIO", "of --trace: the run that was measured")
        .with("trace")
        .file(kOnly<kRunData>)};

constexpr std::array<Choice<GroupBy>, 3> kGroups = {
    {{"family", GroupBy::family}, {"chip", GroupBy::chip}, {"stack", GroupBy::stack}}};

/// That what was measured of products is of use: to other rows it says nothing.
void check_measured(const ValidateRequest& request) {
  if (request.measured.empty()) {
    return;
  }
  if (!request.trace.empty() || request.given > 0) {
    throw InputError(fmt::format("--measured: expected tables of kernels, not {}",
                                 request.trace.empty() ? "--given" : "--trace"));
  }
  const auto is_of_kernels = [](const std::string& dataset) {
    switch (dataset_kind(load_dataset(dataset), dataset)) {
      case DatasetKind::gemm:
      case DatasetKind::attention:
      case DatasetKind::mla:
      case DatasetKind::expert_layer:
        return true;
      default:
        return false;
    }
  };
  if (std::ranges::none_of(request.datasets, is_of_kernels)) {
    throw InputError(fmt::format(
        "--measured: expected a table of kernels, which measured products correct, among {}; to "
        "predict runs with what was measured there is `titer run SCENARIO --measured FILE`",
        listed(request.datasets)));
  }
}

/// All rows of all tables; what is wrong with each of them is said at once.
std::vector<Comparison> compare_all(const std::vector<std::string>& datasets,
                                    const std::vector<std::string>& measured) {
  const std::vector<KernelTable> products =
      each_of(measured, [&](const std::filesystem::path file) { return load_kernel_table(file); });
  std::vector<Comparison> rows;
  Problems problems;
  for (const std::string& dataset : datasets) {
    try {
      std::vector<Comparison> more = compare_dataset(dataset, products);
      std::move(more.begin(), more.end(), std::back_inserter(rows));
    } catch (const InputError& error) {
      std::ranges::for_each(error.lines, [&](const std::string& line) { problems.add(line); });
    }
  }
  problems.raise();
  return rows;
}

/// Leaves only rows of these families; each must be there.
void keep_families(const std::vector<std::string>& families, std::vector<Comparison>& rows) {
  if (families.empty()) {
    return;
  }
  std::set<std::string, std::less<>> known;
  for (const Comparison& row : rows) {
    known.insert(row.family);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& family : families) {
    if (!known.contains(family)) {
      throw InputError("--family " + family + ": no row is of this family" +
                       suggestion(family, names));
    }
  }
  std::erase_if(rows, [&](const Comparison& row) { return !includes(families, row.family); });
}

/// "training.csv"; of several tables "kernels: 24 tables", or without the folder if it is not one.
std::string title_of(const std::vector<std::string>& datasets) {
  const std::filesystem::path first(datasets.front());
  if (datasets.size() == 1) {
    return first.filename().string();
  }
  const std::string folder = first.parent_path().filename().string();
  const bool together = std::ranges::all_of(datasets, [&](const auto& dataset) {
    return std::filesystem::path(dataset).parent_path() == first.parent_path();
  });
  return (together && !folder.empty() ? folder + ": " : "") + std::to_string(datasets.size()) +
         " tables";
}

/// The answer to --fail-above. Of no row there is no mean: nothing was shown to be right.
bool is_within(const ValidateRequest& request, const GroupStatistics& all) {
  return !request.fail_above || (all.time.mean && 100 * *all.time.mean <= *request.fail_above);
}

/// How well some runs of each family tell of its others.
View given_answer(const ValidateRequest& request) {
  std::vector<MeasuredRun> runs;
  for (const std::filesystem::path file : request.datasets) {
    std::vector<MeasuredRun> more = load_measured_runs(file, "");
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  if (!request.families.empty()) {
    std::erase_if(runs,
                  [&](const MeasuredRun& run) { return !includes(request.families, run.group); });
  }
  if (runs.empty()) {
    throw InputError(
        "--given: no run to try: expected rows that leave nothing open and are not of grade C, of "
        "the families asked for");
  }
  const auto given = static_cast<std::size_t>(request.given);
  const std::vector<GivenTrial> trials =
      try_given(runs, given, [&](std::size_t done, std::size_t all) {
        if (request.progress) {
          request.progress(done, all);
        }
      });
  return given_view(trials, given, runs.size());
}

/// What views and pictures are made of, as long as there are any.
struct Validated {
  std::vector<Comparison> rows;
  std::vector<GroupStatistics> groups;
  std::vector<SweepDecision> decisions;
  ValidationView view;
  ValidationPicture picture;
};

std::shared_ptr<const Validated> validated(const ValidateRequest& request) {
  const GroupBy by = request.by.empty() ? GroupBy::all : chosen("--by", request.by, kGroups);
  auto all = std::make_shared<Validated>();
  all->rows = compare_all(request.datasets, request.measured);
  keep_families(request.families, all->rows);
  all->groups = group_statistics(all->rows, by);
  all->decisions = sweep_decisions(all->rows);
  all->view = {.rows = all->rows,
               .groups = all->groups,
               .decisions = all->decisions,
               .worst = static_cast<std::size_t>(request.worst),
               .every_row = request.rows};
  all->picture = {.rows = all->rows,
                  .by = by == GroupBy::all ? GroupBy::family : by,
                  .title = title_of(request.datasets)};
  return all;
}

}  // namespace

std::span<const Option<ValidateRequest>> validate_options() { return kValidateOptions; }

ValidateOutcome ask(const ValidateRequest& request) {
  check_measured(request);
  if (int{!request.explain.empty()} + int{request.given > 0} + int{!request.trace.empty()} > 1) {
    throw InputError("expected one of --explain, --given and --trace");
  }
  if (!request.trace.empty()) {
    return {ask(TraceRequest{.files = request.trace, .scenario = request.scenario})};
  }
  if (request.datasets.empty()) {
    throw InputError("datasets: none: expected tables, or a trace with --trace");
  }
  ValidateOutcome outcome;
  const Figures asked = {{"asked", title_of(request.datasets)}};
  if (!request.explain.empty()) {
    outcome.view = explained_run(request.datasets, request.explain);
    outcome.view.asked = asked;
    return outcome;
  }
  if (request.given > 0) {
    outcome.view = given_answer(request);
    outcome.view.asked = asked;
    return outcome;
  }
  const std::shared_ptr<const Validated> found = validated(request);
  if (request.for_report) {
    outcome.view = validation_view(found->view, found->picture);
  } else {
    outcome.view.text = validation_text(found->view);
  }
  outcome.view.asked = asked;
  outcome.view.long_csv = [found](const Figures& columns) {
    return validation_csv(found->rows, columns);
  };
  outcome.view.long_json = [found] { return validation_json(found->view); };
  outcome.plot = [found] { return validation_scatter_svg(found->picture); };
  outcome.residuals = [found] { return validation_residuals_svg(found->picture); };
  outcome.histogram = [found] { return validation_histogram_svg(found->picture); };
  outcome.good = is_within(request, found->groups.front());
  return outcome;
}

}  // namespace titer
