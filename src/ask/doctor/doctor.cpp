#include "titer/ask/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "ask/report_parts.hpp"
#include "doctor_files.hpp"
#include "doctor_links.hpp"
#include "doctor_steps.hpp"
#include "titer/ask/option.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/file.hpp"
#include "titer/launch/launch.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/report/study/tune_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/scenario/source.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"
#include "titer/whatif/tune.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostTrials = 3;
constexpr double kMostCounted = 1e9;  // devices, rows of a table

void read_defines(const OptionWords& own,
                  Reader& in,
                  const Document& /*whole*/,
                  DoctorRequest& request) {
  for (const std::string& define : read_texts(own, in).value_or(std::vector<std::string>())) {
    add_define(define, request.defines);
  }
}

constexpr std::array kDoctorOptions = {
    options::texts<&DoctorRequest::files>("files", "FILE", "what the run left behind")
        .first()
        .file(),
    options::text<&DoctorRequest::run>("run", "SCENARIO", "what ran, where no file tells it")
        .file(kOnly<kRunData>),
    Option<DoctorRequest>{
        .words = {.key = "set",
                  .type = "PATH=VALUE",
                  .about = "put a value at a path of the run; may be repeated",
                  .kind = OptionKind::changes},
        .read =
            [](const OptionWords& own, Reader& in, const Document&, DoctorRequest& request) {
              request.changes = read_changes(own, in);
            }},
    options::text<&DoctorRequest::cluster>("cluster", "NAME", "the cluster of a script's run")
        .file(kOnly<kClusterData>),
    options::integer<&DoctorRequest::devices>(
        "devices", "N", "all of them, where neither the script nor a trace tells")
        .within({1, kMostCounted}),
    options::integer<&DoctorRequest::vocabulary>(
        "vocabulary", "ROWS", "rows of a script's token table")
        .within({1, kMostCounted}),
    Option<DoctorRequest>{.words = {.key = "define",
                                    .type = "NAME=VALUE",
                                    .about = "what ${NAME} stands for in a script; repeatable",
                                    .kind = OptionKind::texts},
                          .read = read_defines}};

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
      compare_steps(files_, *probe_, report_);
      try_changes(*source);
    } else {
      measure_alone(files_, report_);
      look_at_collectives();
    }
    look_at_topologies();
    say_what_is_missing();
    View view = doctor_view(report_, notes_);
    for (std::size_t i = 0; probe_ && i < files_.logs.size(); ++i) {
      const auto samples = static_cast<double>(probe_->scenario().training.global_batch);
      note_other_batch(files_.logs[i], samples, probe_->base(), view);
    }
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
    add_cause(report_,
              "links",
              probe->base().iteration_time - probe_->base().iteration_time,
              fit.evidence);
    report_.causes.back().is_told = true;
    probe_ = std::move(probe);
    source = std::move(*fit.source);
  }

  /// The best settings of single knobs, as `titer tune` finds them.
  void try_changes(const ScenarioSource& source) {
    const TuneAnswer answer = tune(*probe_, software_abilities(source));
    const Scenario& scenario = probe_->scenario();
    const auto format = launch_format(scenario.stack.name);
    const bool has_settings = format && scenario.model.is_transformer();
    std::set<std::vector<std::string>> seen;
    for (const Tuning& tuning : answer.singles) {
      const bool counts = tuning.outcome == TuneOutcome::faster && tuning.same_numbers;
      if (!counts || report_.trials.size() == kMostTrials || !seen.insert(tuning.knobs).second) {
        continue;
      }
      DoctorTrial trial{.change = change_words(tuning),
                        .time = tuning.of_measured(report_.measured.value_or(*report_.predicted)),
                        .gain = tuning.gain,
                        .sure = odds_text(tuning.odds),
                        .setting = ""};
      if (has_settings) {
        static_cast<void>(probe_->with(tuning.assignments()));
        trial.setting = listed(changed_settings(*format, scenario, probe_->changed()), "  ");
      }
      report_.trials.push_back(std::move(trial));
    }
  }

  /// What measured links are worth without a run.
  void look_at_collectives() {
    for (const MeasuredCollective& measured : files_.collectives) {
      report_.findings.push_back(fmt::format(
          "{0}: `titer calibrate network {0} --base CLUSTER` fits the links of a cluster to it",
          measured.source));
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

std::span<const Option<DoctorRequest>> doctor_options() { return kDoctorOptions; }

Answer ask(const DoctorRequest& request) {
  if (request.files.empty() && request.run.empty()) {
    throw InputError(
        "expected files of a run: its launch script, log, traces, output of nccl-tests");
  }
  return Doctor(request).examine();
}

}  // namespace titer
