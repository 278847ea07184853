// nanoGPT's configurations: assignments over those of its train.py.

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"
#include "titer/script/python/python_syntax.hpp"
#include "titer/script/python/python_values.hpp"

namespace titer {
namespace {

/// In the keys of a GPT-2; of a model that is begun from another one, the name of that.
/// [train.py: n_layer = 12 …, bias = False, and 50304 rows where the data tell none; 65 is what
/// data/shakespeare_char/prepare.py finds]
void put_nanogpt_model(const ImportTask& task) {
  Settings& in = task.in;
  const auto length = count_or_default(task, "block_size", 1024);
  const std::string begin = in.word("init_from").value_or("scratch");
  if (begin.starts_with("gpt2")) {
    in.skip("what the model that is begun from has", "n_* bias");
    put_hub_model(task, "init_from", begin);
    return;
  }
  const bool has_characters = in.word("dataset").value_or("").ends_with("_char");
  const std::int64_t rows = has_characters ? 65 : 50304;
  Value config = Value::make_object();
  config.add("model_type", Value("gpt2"));
  config.add("n_layer", Value(in.integer("n_layer", 1, kMostLayers).value_or(12)));
  config.add("n_head", Value(in.integer("n_head", 1, kMostWidth).value_or(12)));
  config.add("n_embd", Value(in.integer("n_embd", 1, kMostWidth).value_or(768)));
  config.add("n_positions", Value(length.value_or(1024)));
  config.add("vocab_size", Value(in.integer("vocab_size", 1, 1'000'000'000).value_or(rows)));
  put_model_of_config(task, config);
  assume(
      task, "vocab_size", "taken as " + std::to_string(rows) + ", as the data's tokenizer has it");
  const bool has_bias = in.flag("bias").value_or(false);
  task.into.model->biases = {.qkv = has_bias, .output = has_bias, .mlp = has_bias, .head = false};
  if (!has_bias) {
    assume(task, "bias", "norms are taken with theirs, as many parameters as the model is wide");
  }
  task.into.model->dropout = in.number("dropout").value_or(0) > 0;
}

/// Steps of accumulation are those of all ranks together.
void put_nanogpt_batches(const ImportTask& task, std::optional<std::int64_t> ranks) {
  constexpr std::string_view key = "gradient_accumulation_steps";
  const auto micro = count_or_default(task, "batch_size", 12);
  const auto steps = count_or_default(task, key, 40);
  if (ranks && steps && *steps % *ranks != 0) {
    task.in.fail(
        key,
        "expected a multiple of the " + std::to_string(*ranks) + " ranks, which share these steps");
    return;
  }
  put_rank_batches(task,
                   "batch_size",
                   {.micro = micro,
                    .accumulation = std::nullopt,
                    .global = micro && steps ? std::optional(*micro * *steps) : std::nullopt},
                   ranks);
}

}  // namespace

bool is_nanogpt(std::string_view text) {
  const auto has = [&](std::string_view name) {
    return text.starts_with(name) || text.find("\n" + std::string(name)) != text.npos;
  };
  return !has("import ") && !has("from ") && !has("def ") && !has("class ") &&
         (has("max_iters") || has("eval_iters") || (has("out_dir") && has("n_embd"))) &&
         (has("batch_size") || has("block_size") || has("n_layer") || has("init_from"));
}

Document parse_nanogpt(std::string_view text,
                       const std::string& file,
                       const ImportOptions& /*options*/,
                       std::vector<std::string>& /*assumed*/) {
  Document made{.root = Value::make_object(), .sources = {file}};
  PythonConstants constants;
  for (const Statement& statement : python_statements(text, file)) {
    const auto found = assigned(statement.text);
    if (!found || found->path.find('.') != std::string::npos) {
      continue;
    }
    Value value = value_of(constants, found->value, statement.at);
    constants[found->path] = value;
    if (Value* const before = made.root.find(found->path)) {
      *before = std::move(value);
    } else {
      made.root.add(found->path, std::move(value));
      made.root.key_origins.back() = statement.at;
    }
  }
  return made;
}

void import_nanogpt(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "fsdp";
  assume(task, "", "the stack fsdp stands for nanoGPT's program, of which no figures are known");
  put_nanogpt_model(task);
  if (!in.is_sound()) {
    return;
  }
  const auto ranks = launched_devices(task);
  put(task.into.plan, "data", ranks);
  task.into.plan.add("sharding", Value("none"));
  task.into.plan.add("recompute", Value("none"));
  put_nanogpt_batches(task, ranks);
  const std::string type = in.word("dtype").value_or("bfloat16");
  if (type != "bfloat16" && type != "float16" && type != "float32") {
    in.fail("dtype", "expected bfloat16, float16 or float32");
  }
  Value& training = task.into.training;
  training.add("precision", Value(precision_of(type)));
  training.add("gradient_precision", Value("fp32"));  // of weights in fp32
  training.add("sequence", Value(in.integer("block_size", 1, kMostTokens).value_or(1024)));
  training.add("optimizer", Value("adam"));
  if (in.flag("compile").value_or(true)) {
    assume(task, "compile", "taken as without it");
  }
  in.skip_known("nanogpt");
}

}  // namespace titer
