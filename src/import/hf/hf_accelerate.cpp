// accelerate's YAML, which tells how many processes there are and what they share out; and what
// launchers tell of the same.

#include <algorithm>
#include <array>

#include "hf_parts.hpp"
#include "import/formats/formats.hpp"
#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"

namespace titer {
namespace {

/// Of "localhost:0,1,2,3" or "a:0,1@b:0,1", as deepspeed is told which devices to take; none where
/// a host's are all taken.
std::optional<std::int64_t> included_devices(Settings& in) {
  const std::string hosts = in.text("include").value_or("");
  std::int64_t count = 0;
  for (const std::string_view host : divided(hosts, "@")) {
    const std::size_t colon = host.find(':');
    const bool is_list =
        colon != host.npos && host.find_first_not_of("0123456789,", colon + 1) == host.npos;
    if (!is_list || colon + 1 == host.size()) {
      return std::nullopt;
    }
    count += 1 + std::count(host.begin() + static_cast<std::ptrdiff_t>(colon), host.end(), ',');
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> launched_devices(const ImportTask& task) {
  Settings& in = task.in;
  const auto product = [&](std::string_view nodes_key, std::string_view each_key) {
    const auto nodes = in.integer(nodes_key, 1, kMostDegree);
    const auto each = in.integer(each_key, 1, kMostDegree);
    return each ? std::optional(nodes.value_or(1) * *each) : std::nullopt;
  };
  const auto launched = product("nnodes", "nproc_per_node");
  const bool is_scheduled = in.has("num_nodes") && in.has("gpus");
  const auto spawned = product("num_nodes", is_scheduled ? "gpus" : "num_gpus");
  const auto processes = in.integer("num_processes", 1, kMostDegree);
  const auto gaudis = is_on_gaudi(task) ? in.integer("world_size", 1, kMostDegree) : std::nullopt;
  const std::array told = {
      task.options.devices, launched, spawned, included_devices(in), gaudis, processes};
  const auto* const first =
      std::ranges::find_if(told, [](const auto& count) { return count.has_value(); });
  return first == told.end() ? std::nullopt : *first;
}

void import_accelerate(const ImportTask& task) {
  Settings& in = task.in;
  const std::string type = in.word("distributed_type").value_or("no");
  const std::string precision = in.word("mixed_precision").value_or("no");
  if (!task.others.has_trainer || precision != "no") {
    const bool is_known = precision == "bf16" || precision == "fp16" || precision == "fp8";
    task.into.training.add("precision", Value(is_known ? precision : "fp32"));
  }
  const TrainerPlan ranks{
      .devices = launched_devices(task),
      .data = launched_devices(task),
      .accumulation = in.integer("deepspeed_config.gradient_accumulation_steps", 1).value_or(1)};
  if (type == "deepspeed") {
    static_cast<void>(put_deepspeed(task, "deepspeed_config.deepspeed_config_file"));
    // [accelerate/commands/launch.py: every key becomes an argument, of which others are not asked]
    in.skip("keys of DeepSpeed that accelerate hands to nobody", "deepspeed_config.*");
    task.into.stack = "deepspeed";
  } else if (type == "fsdp" || type == "multi_gpu" || type == "no") {
    if (type == "fsdp") {
      static_cast<void>(put_fsdp(task, ranks));
    }
    in.skip(kSwitchedOff, "fsdp_config.* deepspeed_config.*");
    task.into.stack = "fsdp";
  } else {
    in.fail("distributed_type", "expected FSDP, DEEPSPEED, MULTI_GPU or NO");
  }
  if (!task.others.has_trainer) {
    put(task.into.plan, "data", ranks.data);
  }
  refuse_host(task);
  remark_on_compiling(task, {"dynamo_backend", "dynamo_config.dynamo_backend"});
  in.skip_known("hf-trainer");
}

void refuse_host(const ImportTask& task) {
  if (task.in.is_on("use_cpu")) {
    task.in.leave_out("use_cpu", "steps on a host's processors are not modelled");
  }
}

void remark_on_compiling(const ImportTask& task, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string word = lower(task.in.written(key));
    if (!word.empty() && word != "no" && word != "false" && word != "null") {
      static_cast<void>(task.in.raw(key));
      assume(task, key, "kernels are taken as those of a program that is not compiled");
      return;
    }
  }
}

void settle_precision(std::vector<ImportedRun>& parts) {
  const auto is_launcher = [](const ImportedRun& part) { return part.format == kAccelerate; };
  const auto launcher = std::ranges::find_if(parts, is_launcher);
  const auto trainer = std::ranges::find_if(parts, [&](const ImportedRun& part) {
    return !is_launcher(part) && part.training.find("precision") != nullptr;
  });
  if (launcher == parts.end() || trainer == parts.end()) {
    return;
  }
  Value* const asked = launcher->training.find("precision");
  Value* const own = trainer->training.find("precision");
  if (asked == nullptr || asked->text == own->text) {
    return;
  }
  if (own->text == "fp32" || own->text == "tf32") {
    *own = *asked;
  } else {
    launcher->assumed.push_back("accelerate's mixed_precision: " + asked->text +
                                ": the trainer's own " + own->text + " counts");
    *asked = *own;
  }
}

namespace {

/// Of deepspeed_zero3.yaml, fsdp2.yaml or multi_gpu.yaml, as TRL and others call them.
ToldByLauncher told_by_name(const ImportTask& task, const std::string& path) {
  constexpr std::string_view key = "config_file";
  const std::string name = lower(path.substr(path.rfind('/') + 1));
  if (put_named_stage(task, key, path)) {
    return {.devices = std::nullopt, .stack = "deepspeed"};
  }
  const auto is_called = [&](std::string_view part) { return name.find(part) != name.npos; };
  const bool is_sharded = is_called("fsdp");
  if (!is_sharded && !is_called("multi_gpu") && !is_called("ddp") && !is_called("single_gpu")) {
    task.in.leave_out(key, "is not beside the file; --with gives it");
    return {};
  }
  task.into.plan.add("sharding", Value(is_sharded ? "zero3" : "none"));
  assume(task,
         key,
         std::string("is not beside the file, and taken for what its name says: ") +
             (is_sharded ? "FSDP that shares out weights, too" : "every rank has all states"));
  return {.devices = is_called("single_gpu") ? std::optional<std::int64_t>(1) : std::nullopt,
          .stack = "fsdp"};
}

}  // namespace

ToldByLauncher put_launch_file(const ImportTask& task) {
  const std::optional<std::string> named = task.in.text("config_file");
  if (!named) {
    return {};
  }
  const std::string file = file_beside(task, *named);
  if (file.empty()) {
    return task.others.has_launcher ? ToldByLauncher() : told_by_name(task, *named);
  }
  const Document document = parse_yaml(read_small_text(file), file);
  Problems problems;
  Settings in(document, "", task.options, problems);
  FileSet others = task.others;
  others.has_trainer = true;
  ImportedRun read;
  import_accelerate({in, task.options, read, task.arguments, file, others});
  problems.raise();
  add_outcome(in, task.into);
  const auto put_absent = [](Value& to, const Value& from) {
    for (const auto& [key, value] : from.members) {
      if (to.find(key) == nullptr) {
        to.add(key, value);
      }
    }
  };
  put_absent(task.into.plan, read.plan);
  put_absent(task.into.training, read.training);
  task.into.assumed.insert(task.into.assumed.end(), read.assumed.begin(), read.assumed.end());
  return {.devices = task.options.devices ? task.options.devices
                                          : in.integer("num_processes", 1, kMostDegree),
          .stack = read.stack};
}

}  // namespace titer
