#include "launch_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/units/blanks.hpp"
#include "titer/units/shell_word.hpp"

namespace titer {
namespace {

/// "# …" of every line.
std::string comment(std::string_view lines) {
  std::string text;
  for (const std::string_view line : divided(lines, "\n")) {
    text += fmt::format("# {}\n", line);
  }
  return text;
}

/// The settings as objects within objects, by the dots of their names.
Value nested(std::span<const LaunchSetting> settings) {
  Value root = Value::make_object();
  for (const LaunchSetting& setting : settings) {
    Value* object = &root;
    std::string_view rest = setting.name;
    for (std::size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      const std::string key(rest.substr(0, dot));
      if (object->find(key) == nullptr) {
        object->add(key, Value::make_object());
      }
      object = object->find(key);
      rest.remove_prefix(dot + 1);
    }
    object->add(std::string(rest), setting.value);
  }
  return root;
}

void add_yaml(const Value& object, const std::string& indent, std::string& text) {
  for (const auto& [key, value] : object.members) {
    if (value.kind == Value::Kind::object) {
      text += fmt::format("{}{}:\n", indent, key);
      add_yaml(value, indent + "  ", text);
    } else {
      text += fmt::format("{}{}: {}\n", indent, key, value_text(value));
    }
  }
}

std::string array_text(std::string_view name, const std::vector<LaunchSetting>& settings) {
  std::string text = fmt::format("{}=(\n", name);
  for (const LaunchSetting& setting : settings) {
    if (const std::string argument = argument_text(setting); !argument.empty()) {
      text += fmt::format("  {}\n", argument);
    }
  }
  return text + ")\n";
}

/// What Megatron-LM needs to run at all, and Titer knows nothing of.
constexpr std::string_view kOwnArguments =
    "# Data, tokenizer, learning rate and checkpoints are yours: these only make it run.\n"
    "OWN=(\n"
    "  --mock-data\n"
    "  --tokenizer-type NullTokenizer\n"
    "  --train-iters 20\n"
    "  --lr 1.0e-4\n"
    ")\n";
constexpr std::string_view kPort = "6000";

std::string slurm_head(const LaunchNodes& nodes) {
  return fmt::format(
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node=1\n"
      "#SBATCH --gpus-per-node={}\n"
      "#SBATCH --exclusive\n",
      nodes.nodes,
      nodes.devices_per_node);
}

std::string start(const LaunchNodes& nodes, bool slurm) {
  const std::string size =
      fmt::format("torchrun --nnodes {} --nproc-per-node {}", nodes.nodes, nodes.devices_per_node);
  if (slurm) {
    return fmt::format(
        "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
        "srun {} \\\n"
        "  --rdzv-backend c10d --rdzv-endpoint \"$MASTER_ADDR:{}\" --rdzv-id \"$SLURM_JOB_ID\" "
        "\\\n",
        size,
        kPort);
  }
  if (nodes.nodes == 1) {
    return size + " --standalone \\\n";
  }
  return fmt::format(
      "{} \\\n"
      "  --node-rank \"${{NODE_RANK:?of this node}}\" --master-addr \"${{MASTER_ADDR:?of node "
      "0}}\" "
      "--master-port {} \\\n",
      size,
      kPort);
}

}  // namespace

std::string value_text(const Value& value) {
  const bool is_plain =
      value.kind == Value::Kind::text && value.text.find_first_of("\"\\\n") == value.text.npos;
  return is_plain ? "\"" + value.text + "\"" : to_json(value, 0);
}

std::string argument_text(const LaunchSetting& setting) {
  const Value& value = setting.value;
  std::string flag = "--" + setting.name;
  std::ranges::replace(flag, '_', '-');
  if (value.kind == Value::Kind::boolean) {
    return value.boolean ? flag : "";
  }
  if (value.kind == Value::Kind::array) {
    for (const Value& item : value.items) {
      flag += " " + shell_word(item.text);
    }
    return flag;
  }
  return flag + " " + shell_word(value.kind == Value::Kind::text ? value.text : to_json(value, 0));
}

std::string megatron_script(const Scenario& scenario, std::string_view about, bool slurm) {
  const LaunchNodes nodes = launch_nodes(scenario);
  std::string text = "#!/bin/bash\n";
  text += slurm ? slurm_head(nodes) : "";
  text += comment(about) + "\n";
  text += array_text("MODEL", megatron_model_settings(scenario));
  text += array_text("PLAN", megatron_plan_settings(scenario));
  text += array_text("TRAINING", megatron_training_settings(scenario));
  text += std::string(kOwnArguments) + "\n" + start(nodes, slurm);
  const Transformer* const model = scenario.model.if_transformer();
  const bool hybrid = model != nullptr && model->mixer;
  return text +
         fmt::format(
             "  {} \"${{MODEL[@]}}\" \"${{PLAN[@]}}\" \"${{TRAINING[@]}}\" \"${{OWN[@]}}\"\n",
             hybrid ? "pretrain_mamba.py" : "pretrain_gpt.py");
}

std::string yaml_text(std::span<const LaunchSetting> settings, std::string_view about) {
  std::string text = comment(about) + "\n";
  add_yaml(nested(settings), "", text);
  return text;
}

std::string toml_text(std::span<const LaunchSetting> settings, std::string_view about) {
  std::string text = comment(about);
  for (const auto& [table, object] : nested(settings).members) {
    text += fmt::format("\n[{}]\n", table);
    for (const auto& [key, value] : object.members) {
      text += fmt::format("{} = {}\n", key, value_text(value));
    }
  }
  return text;
}

std::string json_text(std::span<const LaunchSetting> settings) {
  return to_json(nested(settings)) + "\n";
}

}  // namespace titer
