#include "doctor_files.hpp"

#include <fmt/format.h>

#include "titer/input/file.hpp"
#include "titer/scenario/source.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// Whether a document is a run of this program: what other programs call so has other keys.
bool is_run(const Value& root) {
  return root.find("model") != nullptr && root.find("training") != nullptr &&
         (root.find("cluster") != nullptr || root.find("plan") != nullptr);
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Output of nccl-tests and rccl-tests has a column of this name.
bool is_nccl_tests(std::string_view text) {
  return holds_any(text, {"busbw", "nccl-tests", "rccl-tests"});
}

std::string says(const TrainingLog& log) {
  std::string text = fmt::format("{}, {}", log.program, counted_text(log.steps.size(), "line"));
  if (log.time) {
    text += fmt::format(", median {}", format(Seconds::from_si(log.time->median)));
  } else if (log.tokens_per_s) {
    text += fmt::format(", {:.5g} tokens/s of a device", log.tokens_per_s->median);
  } else if (log.samples_per_s) {
    text += fmt::format(", {:.5g} samples/s", log.samples_per_s->median);
  }
  return text;
}

std::string says(const StepBreakdown& step) {
  std::string text = fmt::format("{}, {:.4g} step{} of {}",
                                 step.format,
                                 step.steps,
                                 step.steps == 1 ? "" : "s",
                                 format(step.time));
  if (step.rank) {
    text += fmt::format(", rank {}", *step.rank);
  }
  if (step.world_size) {
    text += fmt::format(" of {}", *step.world_size);
  }
  return step.chip.empty() ? text : text + ", " + step.chip;
}

std::string says(const MeasuredCollective& measured) {
  std::string text = fmt::format("{}, {} sizes",
                                 measured.operation.empty() ? "a collective" : measured.operation,
                                 measured.sizes.size());
  if (measured.ranks) {
    text += fmt::format(", {} ranks", *measured.ranks);
  }
  return measured.nodes
             ? text + fmt::format(" on {} node{}", *measured.nodes, *measured.nodes > 1 ? "s" : "")
             : text;
}

class FileSorter {
 public:
  void take(const std::string& name) {
    const std::filesystem::path path = name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
      if (is_shipped(kRunData, name)) {
        take_run(name);
        return;
      }
      throw InputError(name + ": expected a file");
    }
    if (is_compressed(path)) {
      take_trace(name);
      return;
    }
    const std::string text = read_text(path);
    if (begins_as(text, "{\"")) {
      take_object(name, text);
    } else if (const auto family = machine_family(text)) {
      if (text.find_first_of('<') == text.find_first_not_of(" \t\r\n") &&
          !holds_any(text, {"<system"})) {
        throw InputError(name + ": XML, but not NCCL's topology; expected what a run left behind");
      }
      files_.topologies.push_back(path);
      add(name, "topology", std::string(*family));
    } else if (is_nccl_tests(text)) {
      files_.collectives.push_back(parse_nccl_tests(text, name));
      add(name, "nccl-tests", says(files_.collectives.back()));
    } else if (text.find('\0') != text.npos || begins_as(text, "[{")) {
      take_trace(name);
    } else {
      take_text(name, text);
    }
  }
  [[nodiscard]] DoctorFiles finish() {
    if (files_.logs.size() > 1) {
      throw InputError(files_.logs[1].source + ": a second training log, beside " +
                       files_.logs[0].source + "; expected those of one run");
    }
    return std::move(files_);
  }

 private:
  static bool is_compressed(const std::filesystem::path& path) {
    return path.extension() == ".gz" || path.extension() == ".et";
  }

  void add(const std::string& name, std::string kind, std::string what) {
    files_.rows.push_back({.name = name, .kind = std::move(kind), .says = std::move(what)});
  }

  /// A trace, or a log that is compressed.
  void take_trace(const std::string& name) {
    if (trace_format(name) == TraceFormat::training_log) {
      files_.logs.push_back(load_training_log(name));
      add(name, "training log", says(files_.logs.back()));
      return;
    }
    files_.traces.push_back(load_step(name));
    add(name, "trace", says(files_.traces.back()));
  }

  void take_object(const std::string& name, const std::string& text) {
    if (holds_any(text,
                  {"\"traceEvents\"",
                   "\"byCategory\"",
                   "\"byProgram\"",
                   "\"log_history\"",
                   "\"workload_graph\""})) {
      take_trace(name);
      return;
    }
    const Document document = parse_json(text, name);
    if (is_run(document.root)) {
      take_run(name);
    } else {
      take_import(name);
    }
  }

  void take_run(const std::string& name) {
    if (!files_.run.empty()) {
      throw InputError(name + ": a second run, beside " + files_.run + "; expected one");
    }
    files_.run = name;
    add(name, "run", "of this program");
  }

  void take_text(const std::string& name, const std::string& text) {
    try {
      files_.logs.push_back(parse_training_log(text, name));
      add(name, "training log", says(files_.logs.back()));
    } catch (const InputError&) {
      take_import(name);  // what says nothing of speed may say what ran
    }
  }

  void take_import(const std::string& name) {
    files_.imports.emplace_back(name);
    add(name, "configuration", "");
  }

  DoctorFiles files_;
};

}  // namespace

DoctorFiles read_doctor_files(const std::vector<std::string>& files) {
  FileSorter sorter;
  for (const std::string& file : files) {
    sorter.take(file);
  }
  return sorter.finish();
}

}  // namespace titer
