#include "titer/ask/asked_source.hpp"
#include "titer/ask/evidence.hpp"
#include "titer/ask/option.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/report/evidence/support_report.hpp"

namespace titer {
namespace {

constexpr std::array kSupportOptions = {
    options::texts<&SupportRequest::datasets>(
        "datasets",
        "DATASET.csv",
        "tables of runs, as `titer validate` takes them; otherwise what the public runs came to")
        .first()
        .file(),
    options::asked<&SupportRequest::scenario>(
        "scenario",
        "SCENARIO",
        "first what is known of runs like this one, a run file or a shipped run")
        .file(kOnly<kRunData>)};

std::vector<SupportCell> cells_of(const std::vector<std::string>& datasets) {
  if (datasets.empty()) {
    return shipped_support();
  }
  std::vector<Comparison> rows;
  for (const std::string& dataset : datasets) {
    std::vector<Comparison> more = compare_dataset(dataset);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return support_cells(rows);
}

}  // namespace

std::span<const Option<SupportRequest>> support_options() { return kSupportOptions; }

Answer ask(const SupportRequest& request) {
  std::optional<Combination> asked;
  if (is_asked(request.scenario)) {
    asked = combination_of(source_of(request.scenario).read());
  }
  return {.view = support_view(cells_of(request.datasets), asked)};
}

}  // namespace titer
