#include "titer/ask/search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "learned.hpp"
#include "scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/report/study/sweep_report.hpp"
#include "titer/report/study/sweep_view.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/sweep/sweep_run.hpp"

namespace titer {
namespace {

constexpr std::array kSweepOptions = {
    options::asked<&SweepRequest::sweep>(
        "sweep", "SWEEP", "a sweep file, or a shipped sweep (titer list sweeps)")
        .needed()
        .first()
        .file(kOnly<kSweepData>),
    options::fidelity<&SweepRequest::fidelity>().or_else("closed; event where devices differ"),
    options::list<&SweepRequest::columns>(
        "columns",
        "NAMES",
        "further columns: algorithms (those that links choose in place of those of the closed "
        "form; with --fidelity network), beyond_software (what of the plan its software does not "
        "have)"),
    options::measured<&SweepRequest::measured>(),
    options::integer<&SweepRequest::limit>("limit", "N", "the most points that the axes may make")
        .or_else("100000000")
        .within({1})};

// Of what memory holds.
constexpr std::size_t kUsualHeld = 100'000;
constexpr std::int64_t kMostHeld = 10'000'000;

constexpr char kBetweenRows = '\x1e';  // of both formats; in neither

/// Puts what measured runs tell into the scenario that is varied. An axis that puts other data in
/// the place of what they tell of would leave it out in silence.
std::vector<std::string> learn_for(const SweepRequest& request, Sweep& sweep) {
  std::vector<Assignment> changes;
  Learned learned = learn_from(request.measured, sweep.base, changes);
  for (const Assignment& change : changes) {
    for (const Axis& axis : sweep.axes) {
      if (change.path == axis.path || change.path.starts_with(axis.path + ".")) {
        throw InputError(
            fmt::format("{}: the runs tell of {}, which the axis {} replaces: expected "
                        "axes of other parts",
                        change.source,
                        change.path,
                        axis.path));
      }
    }
    sweep.base.assign(change);
  }
  return std::move(learned.notes);
}

/// The rows of a sweep, as its table and as values.
struct SweptRows {
  std::string csv;
  Value points = Value::make_array();
};

/// Takes rows of both formats by turns apart.
void take_rows(std::string_view written, SweptRows& rows) {
  while (!written.empty()) {
    const std::size_t csv = written.find(kBetweenRows);
    const std::size_t json = written.find(kBetweenRows, csv + 1);
    rows.csv += written.substr(0, csv);
    rows.points.push(parse_json(written.substr(csv + 1, json - csv - 1), "row").root);
    written.remove_prefix(json + 1);
  }
}

SweptRows rows_of_sweep(const Sweep& sweep, const SweepOptions& options) {
  const SweepRows csv(sweep, RowFormat::csv);
  const SweepRows json(sweep, RowFormat::json_lines);
  SweptRows rows{.csv = csv.header()};
  const auto append = [&, of_csv = KeptCells(), of_json = KeptCells()](const SweepPoint& point,
                                                                       std::string& text) mutable {
    csv.append(point, of_csv, text);
    text += kBetweenRows;
    json.append(point, of_json, text);
    text += kBetweenRows;
  };
  const SweepOutcome outcome =
      run_sweep(sweep, options, append, [&](std::span<const SweepChunk> ready) {
        for (const SweepChunk& chunk : ready) {
          take_rows(chunk.rows, rows);
        }
      });
  if (!outcome.all) {
    throw InputError("the sweep was stopped before its end");
  }
  if (rows.points.items.empty()) {
    refuse_empty(sweep, outcome.left_out);
  }
  return rows;
}

}  // namespace

std::span<const Option<SweepRequest>> sweep_options() { return kSweepOptions; }

Sweep asked_sweep(const SweepRequest& request,
                  std::size_t most_points,
                  std::vector<std::string>& notes) {
  const std::size_t most = request.limit ? static_cast<std::size_t>(*request.limit) : most_points;
  Sweep sweep = resolved(
      request.sweep,
      [&](const std::string& name) { return load_sweep(name, most); },
      [&](const Document& document) {
        expect_no_run(kSweepData, document, "sweep", "");
        return read_sweep(document, most);
      });
  for (const std::string& word : request.columns) {
    const SweepColumn column = chosen("--columns", word, kSweepColumns);
    if (!sweep.has(column)) {
      sweep.columns.push_back(column);
    }
  }
  notes = learn_for(request, sweep);
  std::ranges::move(source_notes(sweep.base), std::back_inserter(notes));
  check_columns(sweep, request.fidelity);
  return sweep;
}

Answer ask(const SweepRequest& request) {
  if (request.limit > kMostHeld) {
    throw InputError(
        fmt::format("--limit: expected at most {} points that memory holds", kMostHeld));
  }
  std::vector<std::string> notes;
  const Sweep sweep = asked_sweep(request, kUsualHeld, notes);
  const SweepOptions options{
      .threads = request.threads, .fidelity = request.fidelity, .stop = request.stop};
  SweptRows rows = rows_of_sweep(sweep, options);
  Answer answer{.view = sweep_view(sweep, CsvTable::parse(rows.csv, "rows"))};
  answer.good = std::ranges::any_of(rows.points.items, [](const Value& point) {
    return point.find("status")->text == name(PointStatus::ok);
  });
  answer.view.figures.push_back({"points", Datum(std::move(rows.points))});
  answer.view.long_csv = [text = std::move(rows.csv)](const Figures&) { return text; };
  add_notes(notes, answer.view);
  return answer;
}

}  // namespace titer
