#include "titer/ask/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "ask/report_parts.hpp"
#include "doctor_files.hpp"
#include "doctor_links.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/file.hpp"
#include "titer/launch/launch.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/trace/trace_comparison.hpp"
#include "titer/trace/trace_ranks.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/whatif/tune.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostTrials = 3;

std::string value_text(const Value& value) {
  return value.kind == Value::Kind::null ? "left out" : plain_text(value);
}

/// "recompute selective -> none"
std::string words_of(const Tuning& tuning) {
  return listed(tuning.values, [](const KnobValue& value) {
    return fmt::format("{} {} -> {}",
                       value.path.substr(value.path.find('.') + 1),
                       value_text(value.from),
                       value_text(value.to));
  });
}

class Doctor {
 public:
  explicit Doctor(const DoctorRequest& request)
      : request_(request), files_(read_doctor_files(request.files)) {
    report_.files = files_.rows;
  }

  Answer examine() {
    std::optional<ScenarioSource> source = run_source();
    if (source) {
      predict(*source);
    }
    if (probe_) {
      calibrate_links(*source);
      compare_steps();
      try_changes(*source);
    } else {
      measure_alone();
    }
    look_at_topologies();
    say_what_is_missing();
    View view = doctor_view(report_, notes_);
    add_asked({.what = asked_words(), .changes = request_.changes},
              report_.scenario ? asked_columns(*report_.scenario) : Figures(),
              view);
    if (request_.for_report && probe_) {
      add_terms(probe_->scenario(), view);
      add_inputs(*source, "the scenario", view);
    }
    return {.view = std::move(view)};
  }

 private:
  /// The run that was named, and the files.
  [[nodiscard]] std::string asked_words() const {
    std::string words = request_.run;
    for (const std::string& file : request_.files) {
      add_listed(words, file, " ");
    }
    return words;
  }

  /// What ran, by this program's own file or those of others; none where nothing tells.
  std::optional<ScenarioSource> run_source() {
    const bool own = !request_.run.empty() || !files_.run.empty();
    if (own && !files_.imports.empty()) {
      throw InputError(files_.imports.front().string() +
                       ": not a log, a trace, output of nccl-tests or a topology, and what ran is "
                       "told already; expected one description of it");
    }
    if (!request_.run.empty() && !files_.run.empty()) {
      throw InputError("--run " + request_.run + ": " + files_.run +
                       " is a run, too; expected one");
    }
    std::optional<ScenarioSource> source;
    if (own) {
      source = ScenarioSource::load(request_.run.empty() ? files_.run : request_.run);
    } else if (!files_.imports.empty()) {
      source = imported();
    }
    if (source) {
      for (const Assignment& change : request_.changes) {
        source->assign(change);
      }
    } else if (!request_.changes.empty()) {
      throw InputError(request_.changes.front().source + ": expected a run to change");
    }
    return source;
  }

  std::optional<ScenarioSource> imported() {
    ImportOptions options;
    options.defines = request_.defines;
    options.vocabulary = request_.vocabulary;
    options.devices = request_.devices;
    for (const StepBreakdown& trace : files_.traces) {
      if (!options.devices && trace.world_size) {
        options.devices = *trace.world_size;
      }
    }
    options.accept_unknown = true;  // said below
    const ImportedRun run = import_files(files_.imports, options);
    for (DoctorFile& row : report_.files) {
      if (row.kind == "configuration") {
        row.says = run.format;
      }
    }
    for (const std::string& line : run.unread) {
      report_.findings.push_back("not read, and may change the result: " + line);
    }
    for (const std::string& line : run.assumed) {
      report_.findings.push_back("assumed: " + line);
    }
    if (request_.cluster.empty()) {
      report_.missing.emplace_back(
          "the cluster that it ran on: --cluster NAME (titer list clusters)");
      return std::nullopt;
    }
    Document document;
    document.root = run_document(run, request_.cluster);
    return ScenarioSource(std::move(document));
  }

  void predict(const ScenarioSource& source) {
    try {
      const Scenario scenario = source.read();
      probe_ = std::make_unique<ScenarioProbe>(source, usual_fidelity(scenario));
      notes_ = answer_notes(source, scenario);
    } catch (const InputError& error) {
      report_.missing.push_back("a run that can be predicted: " + in_short(error));
      return;
    }
    report_.scenario = probe_->scenario();
    report_.predicted = probe_->base().iteration_time;
    report_.bar = probe_->base().error_bar;
  }

  /// With links as nccl-tests measured them in the place of the cluster's.
  void calibrate_links(ScenarioSource& source) {
    LinkFit fit = fit_links(source, files_.collectives);
    for (std::string& finding : fit.findings) {
      report_.findings.push_back(std::move(finding));
    }
    if (!fit.source) {
      return;
    }
    const Scenario scenario = fit.source->read();
    auto probe = std::make_unique<ScenarioProbe>(*fit.source, usual_fidelity(scenario));
    add_cause("links", probe->base().iteration_time - probe_->base().iteration_time, fit.evidence);
    report_.causes.back().is_told = true;
    probe_ = std::move(probe);
    source = std::move(*fit.source);
  }

  /// What the log and the traces say, beside the prediction, and where they differ.
  void compare_steps() {
    const StepResult& step = probe_->base();
    std::optional<TraceRanks> ranks;
    if (!files_.traces.empty()) {
      ranks = join_ranks(files_.traces);
    }
    if (!files_.logs.empty()) {
      compare_log(files_.logs.front(), step);
    }
    const bool timed = ranks && !ranks->mean.only_shares;
    if (timed && !report_.measured) {
      report_.measured = ranks->mean.time;
      report_.measured_by = ranks->mean.source;
      add_figure("iteration_time_s", "iteration", step.iteration_time, *report_.measured);
    }
    if (!report_.measured) {
      report_.causes.clear();
      return;
    }
    Seconds rest = *report_.measured - *report_.predicted;
    for (const DoctorCause& cause : report_.causes) {
      rest -= cause.time;
    }
    if (timed) {
      rest -= share_out(*ranks);
      add_cause(
          "beyond the traced steps",
          rest,
          fmt::format("{} has {}, the traced steps take {}: a profiler's cost where it is below "
                      "zero, or steps that were not typical",
                      report_.measured_by,
                      format(*report_.measured),
                      format(ranks->mean.time)));
    } else {
      add_cause("not told apart", rest, "a trace of a rank would share it out");
    }
    std::stable_sort(report_.causes.begin(),
                     report_.causes.end(),
                     [](const DoctorCause& a, const DoctorCause& b) {
                       return std::abs(a.time.si()) > std::abs(b.time.si());
                     });
  }

  void compare_log(const TrainingLog& log, const StepResult& step) {
    const Scenario& scenario = probe_->scenario();
    const auto samples = static_cast<double>(scenario.training.global_batch);
    const double tokens = step.tokens_per_s_per_device * step.iteration_time.si();
    const auto time = iteration_time(log, samples, tokens);
    if (time) {
      report_.measured = time;
      report_.measured_by = log.source;
      add_figure("iteration_time_s", "iteration", step.iteration_time, *time);
      report_.figures.push_back({.key = "tokens_per_s_per_device",
                                 .label = "tokens/s of a device",
                                 .predicted = step.tokens_per_s_per_device,
                                 .measured = tokens / time->si(),
                                 .style = {.format = "{:.5g}"}});
    }
    if (log.flops) {
      add_figure("model_flops_per_device",
                 "FLOP/s of a device",
                 step.model_flops_per_device,
                 FlopsPerSecond::from_si(log.flops->median));
    }
    if (log.memory) {
      add_figure("memory_peak_bytes", "most memory", step.memory_peak, *log.memory);
    }
    for (const std::string& remark : log.remarks) {
      report_.findings.push_back(log.source + ": " + remark);
    }
  }

  /// Adds a cause for each term of the trace; their sum.
  Seconds share_out(const TraceRanks& ranks) {
    const std::optional<int> rank = ranks.ranks.size() == 1 ? ranks.mean.rank : std::nullopt;
    const PredictedStep predicted = predict_step(probe_->scenario(), rank);
    const TraceComparison comparison = compare(ranks.mean, &predicted);
    Seconds sum;
    for (const TraceTerm& term : comparison.terms) {
      const Seconds difference = term.difference().value_or(Seconds{});
      std::string evidence =
          fmt::format("measured {}, predicted {}",
                      format(term.measured.counted),
                      format(term.predicted ? term.predicted->counted : Seconds{}));
      for (const std::string& reading : comparison.readings) {
        if (reading.starts_with(term.name + ": ")) {
          evidence = reading.substr(term.name.size() + 2);
        }
      }
      add_cause(term.name, difference, std::move(evidence));
      sum += difference;
    }
    if (const std::string late = straggler_sentence(ranks); !late.empty()) {
      report_.findings.push_back(late);
    }
    for (const std::string& remark : comparison.remarks) {
      report_.findings.push_back(remark);
    }
    return sum;
  }

  template <class Q>
  void add_figure(std::string key, std::string label, Q predicted, Q measured) {
    report_.figures.push_back({.key = std::move(key),
                               .label = std::move(label),
                               .predicted = predicted.si(),
                               .measured = measured.si(),
                               .style = kUnitsOf<Q>});
  }
  void add_cause(std::string name, Seconds time, std::string evidence) {
    report_.causes.push_back(
        {.name = std::move(name), .time = time, .evidence = std::move(evidence)});
  }

  /// Without a run there is still a time.
  void measure_alone() {
    if (!files_.logs.empty() && files_.logs.front().time) {
      report_.measured = Seconds::from_si(files_.logs.front().time->median);
      report_.measured_by = files_.logs.front().source;
    } else if (!files_.traces.empty() && !files_.traces.front().only_shares) {
      report_.measured = join_ranks(files_.traces).mean.time;
      report_.measured_by = files_.traces.front().source;
    }
  }

  /// The best settings of single knobs, as `titer tune` finds them.
  void try_changes(const ScenarioSource& source) {
    const TuneAnswer answer = tune(*probe_, software_abilities(source));
    const Scenario& scenario = probe_->scenario();
    const auto format = launch_format(scenario.stack.name);
    const bool has_settings = format && scenario.model.if_transformer() != nullptr;
    std::set<std::vector<std::string>> seen;
    for (const Tuning& tuning : answer.singles) {
      const bool counts = tuning.outcome == TuneOutcome::faster && tuning.same_numbers;
      if (!counts || report_.trials.size() == kMostTrials || !seen.insert(tuning.knobs).second) {
        continue;
      }
      DoctorTrial trial{
          .change = words_of(tuning),
          .time = tuning.of_measured(report_.measured.value_or(*report_.predicted)),
          .gain = tuning.gain,
          .sure = fmt::format("{} ({:.0f} %)", odds_words(tuning.odds), 100 * tuning.odds),
          .setting = ""};
      if (has_settings) {
        static_cast<void>(probe_->with(tuning.assignments()));
        trial.setting = listed(changed_settings(*format, scenario, probe_->changed()), "  ");
      }
      report_.trials.push_back(std::move(trial));
    }
  }

  /// A node's wiring as rings can use it, where its file tells enough; how to predict with it.
  void look_at_topologies() {
    for (const std::filesystem::path& path : files_.topologies) {
      const std::string family(machine_family(read_text(path)).value_or(""));
      const bool of_network = family == IbNetwork::name || family == SlurmNetwork::name;
      const std::string key = of_network ? "cluster.network.topology" : "cluster.node.fabric";
      report_.findings.push_back(fmt::format(
          "{}: `titer topology {}` shows it; --set {}={} predicts "
          "with it",
          path.string(),
          path.string(),
          key,
          path.string().find('/') == std::string::npos ? "./" + path.string() : path.string()));
    }
  }

  void say_what_is_missing() {
    const auto want = [&](bool is_there, std::string_view what) {
      if (!is_there) {
        report_.missing.emplace_back(what);
      }
    };
    const bool told = !request_.run.empty() || !files_.run.empty() || !files_.imports.empty();
    want(told, "what ran: a launch script or configuration, or --run RUN");
    want(!files_.logs.empty(), "how long iterations take: a training log");
    want(!files_.traces.empty(),
         "where a step goes: traces of PyTorch's profiler, of several ranks if it can be");
    want(!files_.collectives.empty(),
         "how fast the links are: what all_reduce_perf -b 1M -e 4G -f 2 of nccl-tests prints on "
         "these nodes");
    want(!files_.topologies.empty(), "how a node is wired: what nvidia-smi topo -m prints");
  }

  const DoctorRequest& request_;
  DoctorFiles files_;
  DoctorReport report_;
  std::unique_ptr<ScenarioProbe> probe_;  // with measured links where there are any
  std::vector<std::string> notes_;
};

}  // namespace

Answer ask(const DoctorRequest& request) {
  if (request.files.empty() && request.run.empty()) {
    throw InputError(
        "expected files of a run: its launch script, log, traces, output of nccl-tests");
  }
  return Doctor(request).examine();
}

}  // namespace titer
