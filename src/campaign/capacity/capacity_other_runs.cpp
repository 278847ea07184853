#include "capacity_other_runs.hpp"

#include <fmt/format.h>

#include "capacity_counts.hpp"

namespace titer {
namespace {

using Others = WrittenOtherRuns;
constexpr std::array kOtherRunFields = {
    fields::text<&Others::name, Others>("name", "of these runs").or_else("`runs N`"),
    scenario_field<Others>("a run's name or file, or a scenario, on devices like the question's"),
    changes_field<Others>(),
    count<Others, &Others::tokens, kTrainedTokens>("tokens",
                                                   "that each is trained on, such as `300B`")
        .needed(),
    fields::integer<&Others::count, Others>("count", {1, 1e6}, "how many of them").or_else("1")};

}  // namespace

std::vector<WrittenOtherRuns> read_other_runs(std::string_view key,
                                              Reader& in,
                                              const Document& document) {
  if (!in.has(key)) {
    return {};
  }
  WrittenOtherRuns empty;
  empty.document = &document;
  empty.name = "runs";
  return read_parts<WrittenOtherRuns, kOtherRunFields>(in, key, empty, [](Reader& one) {
    if (!one.has("tokens")) {
      one.fail("tokens",
               fmt::format(
                   "missing; expected {}, such as {}", kTrainedTokens.what, kTrainedTokens.sample));
    }
  });
}

Value other_runs_schema() { return schema::list_of(schema_of<Others>(kOtherRunFields)); }

OtherRuns load_other_runs(const WrittenOtherRuns& runs, const CapacityQuestion& question) {
  ScenarioSource source(scenario_document(*runs.document, *runs.scenario));
  const Scenario scenario = changed(source, runs.changes, runs.name);
  const std::string& chip = question.scenario.cluster.chip.name;
  if (scenario.cluster.chip.name != chip) {
    throw InputError(fmt::format("{}: on {}: expected a run on {}, whose devices it shares",
                                 runs.name,
                                 scenario.cluster.chip.name,
                                 chip));
  }
  return other_runs(runs.name,
                    runs.count,
                    runs.tokens,
                    scenario,
                    question.reliability ? &*question.reliability : nullptr);
}

}  // namespace titer
