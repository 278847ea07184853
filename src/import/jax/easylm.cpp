// Commands of EasyLM (young-geng/EasyLM) that train Llama: JAX, on a mesh of replicas, shards and
// parts of a model.

#include <algorithm>
#include <array>
#include <string>

#include "import/hf/hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

class EasyLm {
 public:
  explicit EasyLm(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan), training_(task.into.training) {}

  void read() {
    stand_in(task_, "maxtext", "EasyLM");
    put_model();
    read_mesh();
    if (!in_.is_sound()) {
      return;
    }
    put_mesh();
    put_batches();
    put_numbers();
    in_.skip_known("easylm");
  }

 private:
  /// A file of widths is asked for; a name is one of the program's own.
  [[nodiscard]] std::optional<Value> named_model() {
    const std::string_view key =
        in_.has("load_llama_config") ? "load_llama_config" : "llama.base_model";
    std::string name = in_.word(key).value_or("");
    name = name.starts_with("llama_") ? name.substr(6) : name;
    auto found = config_in_hub("easylm", name.empty() ? "7b" : name);
    if (!found) {
      in_.fail(key,
               "expected 1b, 3b, 7b, 13b, 30b, 65b, llama3_8b or llama3_70b; of another model "
               "--with gives the config.json, --model a name");
    }
    return found;
  }

  void put_model() {
    const std::string changes = in_.text("update_llama_config").value_or("");
    if (!changes.empty()) {
      in_.leave_out("update_llama_config", "what it changes of the model is not read");
    }
    if (task_.options.base || task_.others.has_model) {
      static_cast<void>(in_.text("load_llama_config"));
      static_cast<void>(in_.text("llama.base_model"));
      return;
    }
    std::optional<Value> model = named_model();
    if (!model) {
      return;
    }
    if (task_.options.vocabulary) {
      *model->find("vocab_size") = Value(*task_.options.vocabulary);
    }
    for (auto& [key, width] : model->members) {
      const bool is_width = width.is_integer && key != "max_position_embeddings";
      const auto told = is_width ? in_.integer("llama." + key, 1, kMostWidth) : std::nullopt;
      // A model that is named is as its name says.
      width = told && !in_.has("load_llama_config") ? Value(*told) : width;
    }
    put_model_of_config(task_, *model);
  }

  /// "1,-1,4" or "dp:1,fsdp:-1,mp:4"; "!" before it where axes may share those of the machine.
  void read_mesh() {
    std::string mesh = in_.text("mesh_dim").value_or("");
    mesh.erase(0, mesh.starts_with('!') ? 1 : 0);
    constexpr std::array<std::string_view, 3> names = {"dp:", "fsdp:", "mp:"};
    std::size_t count = 0;
    bool is_sound = true;
    for (std::string_view size : divided(mesh, ",")) {
      std::size_t axis = count++;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (size.starts_with(names[i])) {
          axis = i;
          size.remove_prefix(names[i].size());
          break;
        }
      }
      is_sound =
          is_sound && axis < axes_.size() && read_size(size, axes_[std::min<std::size_t>(axis, 2)]);
    }
    const auto rest = std::ranges::count(axes_, -1);
    if (!is_sound || count != axes_.size() || rest > 1) {
      in_.fail("mesh_dim",
               "expected three sizes, of replicas, shards and parts of a model, of "
               "which one may be -1: 1,-1,4");
    }
  }

  static bool read_size(std::string_view text, std::int64_t& size) {
    size = number_of_text<std::int64_t>(text).value_or(0);
    return (size == -1 || size > 0) && size <= kMostDegree;
  }

  void put_mesh() {
    auto& [copies, shards, parts] = axes_;
    std::int64_t told = 1;
    for (const std::int64_t size : axes_) {
      told *= size == -1 ? 1 : size;
    }
    const auto devices = launched_devices(task_);
    if (devices && *devices % told != 0) {
      in_.fail("mesh_dim",
               "expected axes that divide the " + std::to_string(*devices) + " devices");
      return;
    }
    for (std::int64_t& size : axes_) {
      size = size == -1 && devices ? *devices / told : size;
    }
    plan_.add("tensor", parts == -1 ? Value(kLeftOpen) : Value(parts));
    if (copies > 0 && shards > 0) {
      data_ = copies * shards;
    }
    put(plan_, "data", data_);
    plan_.add("sharding", Value(shards == 1 ? "none" : "zero3"));
    if (data_ && shards > 1 && shards < *data_) {
      plan_.add("shard", Value(shards));
    }
  }

  /// A batch is of all devices and is gone through at once; several make a step of the optimizer,
  /// each with its own reduction (optax.MultiSteps).
  void put_batches() {
    const std::string type = in_.word("train_dataset.type").value_or("huggingface");
    const bool is_torch = type.find("torch") != std::string::npos;
    const std::string section = type.find("json") == std::string::npos
                                    ? "huggingface_dataset"
                                    : (is_torch ? "json_torch_dataset" : "json_dataset");
    const std::string own = "train_dataset." + section + ".";
    const auto batch = count_or_default(task_, own + "batch_size", 8);
    const auto sequence = count_or_default(task_, own + "seq_length", 1024);
    const auto steps = in_.integer("optimizer.accumulate_gradient_steps", 1).value_or(1);
    put(training_, "sequence", sequence);
    const auto share = share_of_batch(task_, own + "batch_size", batch, data_);
    if (!in_.is_sound()) {
      return;
    }
    put_rank_batches(task_,
                     own + "batch_size",
                     {.micro = share,
                      .accumulation = steps,
                      .global = batch ? std::optional(*batch * steps) : std::nullopt},
                     data_);
    if (!share) {
      plan_.add("micro_batch", Value(kLeftOpen));
    }
    if (steps > 1) {
      plan_.add("reduce_every_pass", Value(true));
    }
  }

  void put_numbers() {
    const std::string type = in_.word("dtype").value_or("fp32");
    const bool is_brain = type == "bf16" || type == "bfloat16";
    if (!is_brain && type != "fp32" && type != "float32") {
      in_.fail("dtype", "expected fp32 or bf16");
    }
    training_.add("precision", Value(is_brain ? "bf16" : "fp32"));  // over weights of 32 bits
    take_only(task_, "optimizer.type", {"adamw", "palm"});
    take_only(task_, "optimizer.adamw_optimizer.bf16_momentum", {"false"});
    const std::string kept = in_.word("llama.remat_block").value_or("nothing_saveable");
    const bool keeps_all = kept.empty() || kept == "everything_saveable";
    plan_.add("recompute", Value(keeps_all ? "none" : "full"));
    if (!keeps_all && kept != "nothing_saveable") {
      assume(task_, "llama.remat_block", "taken as nothing_saveable");
    }
    for (const std::string_view part : {"llama.remat_attention", "llama.remat_mlp"}) {
      static_cast<void>(in_.text(part));  // inside of what is computed again anyway
    }
    const bool is_blockwise = in_.is_on("llama.scan_attention");
    plan_.add("attention", Value(is_blockwise ? "flash" : "materialised"));
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Value& training_;
  std::array<std::int64_t, 3> axes_ = {1, 1, 1};
  std::optional<std::int64_t> data_;
};

}  // namespace

void import_easylm(const ImportTask& task) {
  if (task.in.has("beta") || task.in.has("load_llama_config_reward")) {
    task.in.fail("", "is of training by preferences, whose steps have more passes");
    return;
  }
  EasyLm(task).read();
}

}  // namespace titer
