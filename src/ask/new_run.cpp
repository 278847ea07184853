#include "titer/ask/search.hpp"

#include <fmt/format.h>

#include <array>

#include "titer/ask/option.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/report/study/search_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::array kNewRunOptions = {
    options::named<&NewRunRequest::model>("model", "NAME", "the model").file(kOnly<kModelData>),
    options::named<&NewRunRequest::cluster>("cluster", "NAME", "the cluster")
        .file(kOnly<kClusterData>),
    options::integer<&NewRunRequest::devices>("devices", "N", "the number of devices").within({1}),
    options::integer<&NewRunRequest::batch>(
        "batch", "N", "sequences of a step; default: about four million tokens")
        .within({1}),
    options::integer<&NewRunRequest::sequence>(
        "sequence", "N", "tokens of a sequence; default: 8192, or the model's longest")
        .within({1}),
    options::text<&NewRunRequest::precision>("precision", "TYPE", "of products").or_else("bf16"),
    options::text<&NewRunRequest::stack>("stack",
                                         "NAME",
                                         "the training software; default: megatron-core, or what "
                                         "there is for the cluster's chips")
        .file(kOnly<kStackData>)};

constexpr std::int64_t kUsualTokens = 4'194'304;  // of a step
constexpr std::int64_t kUsualSequence = 8192;

/// What a plan says only where it is not as plans are that do not say it.
constexpr std::array<std::string_view, 5> kSaidIfUnusual = {
    "context", "expert", "virtual_stages", "sequence_parallel", "rank_order"};

/// Puts what an option names, or writes out, at a path.
void put_named(Document& into,
               std::string_view path,
               std::string_view option,
               std::string_view text) {
  const std::string source = fmt::format("{} {}", option, text);
  assign(into, {std::string(path), written_or_named(text, source), source});
}

/// At the member of that name, or empty: as the whole.
Document scenario_document(const NewRunRequest& request,
                           std::int64_t batch,
                           std::int64_t sequence,
                           std::string_view within = "") {
  Document document{.root = Value::make_object(), .sources = {}};
  put_named(document, fmt::format("{}model", within), "--model", request.model);
  put_named(document, fmt::format("{}cluster", within), "--cluster", request.cluster);
  Value training = Value::make_object();
  training.add("global_batch", Value(batch));
  if (sequence > 0) {
    training.add("sequence", Value(sequence));
  }
  training.add("precision", Value(request.precision));
  Value& scenario = within.empty() ? document.root : *document.root.find("scenario");
  scenario.add("training", std::move(training));
  scenario.add("stack", Value(request.stack));
  return document;
}

std::int64_t sequence_of(const NewRunRequest& request) {
  if (request.sequence > 0) {
    return request.sequence;
  }
  const ScenarioSource source(scenario_document(request, 1, 0));
  Scenario scenario;
  source.read_unchecked(scenario);
  if (request.batch == 0 && !scenario.model.is_transformer()) {
    throw InputError("titer new: --batch: missing; expected the samples of a step");
  }
  return std::min(assumed_sequence(source, scenario).value_or(scenario.training.sequence),
                  kUsualSequence);
}

/// So many sequences that the devices share them out, whatever of them are replicas.
std::int64_t batch_of(const NewRunRequest& request, std::int64_t sequence) {
  if (request.batch > 0) {
    return request.batch;
  }
  const std::int64_t odd = odd_part(request.devices);
  const std::int64_t wanted = std::max<std::int64_t>(1, kUsualTokens / sequence);
  return (wanted + odd - 1) / odd * odd;
}

Search search_for(const NewRunRequest& request, std::int64_t batch, std::int64_t sequence) {
  Document document = scenario_document(request, batch, sequence, "scenario.");
  document.root.add("devices", Value(request.devices));
  document.root.add("top", Value(1));
  return read_search(document);
}

/// `value`: as it was asked for.
Value cluster_value(Value value, const NewRunRequest& request, const Cluster& cluster) {
  if (cluster.torus() != nullptr || request.devices % cluster.devices_per_node != 0) {
    return value;
  }
  if (value.kind == Value::Kind::text) {
    Value named = Value::make_object();
    named.add("name", std::move(value));
    value = std::move(named);
  }
  value.erase("nodes");
  value.add("nodes", Value(request.devices / cluster.devices_per_node));
  return value;
}

Plan plan_of(const Value& written) {
  const Document document{.root = written, .sources = {}};
  Problems problems;
  Reader in(document, problems);
  Plan plan = read_plan(in);
  problems.raise();
  return plan;
}

Value plan_value(const Plan& plan) {
  Value value = Value::make_object();
  for (const Assignment& assignment : plan_assignments(plan)) {
    value.add(assignment.path.substr(assignment.path.find('.') + 1), assignment.value);
  }
  for (const std::string_view key : kSaidIfUnusual) {
    Value rest = value;
    rest.erase(key);
    if (find_field(plan_fields(), key)->same(plan_of(rest), plan)) {
      value = std::move(rest);
    }
  }
  return value;
}

}  // namespace

std::span<const Option<NewRunRequest>> new_run_options() { return kNewRunOptions; }

NewRunOutcome ask(const NewRunRequest& asked) {
  if (asked.model.empty() || asked.cluster.empty() || asked.devices == 0) {
    throw InputError("titer new: expected --model, --cluster and --devices");
  }
  NewRunRequest request = asked;
  if (request.stack.empty()) {
    Document cluster{.root = Value::make_object(), .sources = {}};
    put_named(cluster, "cluster", "--cluster", request.cluster);
    request.stack = usual_stack(cluster);
  }
  const std::int64_t sequence = sequence_of(request);
  const std::int64_t batch = batch_of(request, sequence);
  const Search search = search_for(request, batch, sequence);
  const SearchAnswer answer = run_search(search, {.threads = request.threads});
  if (answer.plans.empty()) {
    throw InputError(fmt::format(
        "titer new: {}: {}", batch_words(search.scenario), no_plan_sentence(search, answer)));
  }
  const FoundPlan& best = answer.plans.front();
  NewRunOutcome run;
  run.file = Value::make_object();
  run.says = fmt::format("{} on {} x {} ({}), {}, {}",
                         search.scenario.model.title(),
                         request.devices,
                         search.scenario.cluster.chip.title,
                         search.scenario.cluster.name,
                         batch_words(search.scenario),
                         request.precision);
  const Document asked_for = scenario_document(request, batch, sequence);
  const Value& scenario = asked_for.root;
  run.file.add("title", Value(run.says));
  run.file.add("model", *scenario.find("model"));
  run.file.add("cluster",
               cluster_value(*scenario.find("cluster"), request, search.scenario.cluster));
  run.file.add("plan", plan_value(best.plan));
  run.file.add("training", *scenario.find("training"));
  run.file.add("stack", *scenario.find("stack"));
  run.says += fmt::format(": {} a step", format(best.result.iteration_time));
  if (request.batch == 0) {
    run.notes.push_back(fmt::format("batch is not given: {} sequences, {} tokens a step",
                                    batch,
                                    counted_product(batch, sequence)));
  }
  if (request.sequence == 0 && search.scenario.model.is_transformer()) {
    run.notes.push_back(fmt::format("sequence is not given: {} tokens", sequence));
  }
  const ScenarioSource written({.root = run.file, .sources = asked_for.sources});
  std::ranges::move(answer_notes(written, written.read()), std::back_inserter(run.notes));
  run.view.text.add(run.says + "\n").add(to_json(run.file) + "\n");
  run.view.figures = {{"says", run.says}, {"run", run.file}};
  add_notes(run.notes, run.view);
  return run;
}

}  // namespace titer
