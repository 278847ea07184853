#pragma once
// The settings of each kind of software, made of a scenario.

#include <string>
#include <utility>
#include <vector>

#include "titer/launch/launch.hpp"

namespace titer {

/// Settings in the order in which they are added.
class LaunchList {
 public:
  void put(std::string name, Value value) { list_.push_back({std::move(name), std::move(value)}); }
  /// A switch, which stands there only where it is on.
  void put_if(bool on, std::string name) {
    if (on) {
      put(std::move(name), Value(true));
    }
  }
  [[nodiscard]] std::vector<LaunchSetting> take() { return std::move(list_); }

 private:
  std::vector<LaunchSetting> list_;
};

/// By the names of megatron/training/arguments.py, with underscores: of the model, then of how it
/// is split, then of the training. REQUIRES a transformer.
[[nodiscard]] std::vector<LaunchSetting> megatron_model_settings(const Scenario& scenario);
[[nodiscard]] std::vector<LaunchSetting> megatron_plan_settings(const Scenario& scenario);
[[nodiscard]] std::vector<LaunchSetting> megatron_training_settings(const Scenario& scenario);
/// All three.
[[nodiscard]] std::vector<LaunchSetting> megatron_settings(const Scenario& scenario);
/// Where NeMo and Megatron-Bridge have these, and under which names.
[[nodiscard]] std::vector<LaunchSetting> nemo_settings(const Scenario& scenario);
[[nodiscard]] std::vector<LaunchSetting> bridge_settings(const Scenario& scenario);
[[nodiscard]] std::vector<LaunchSetting> torchtitan_settings(const Scenario& scenario);
[[nodiscard]] std::vector<LaunchSetting> deepspeed_settings_of(const Scenario& scenario);

/// How processes are started: so many nodes with so many devices each.
struct LaunchNodes {
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
};
[[nodiscard]] LaunchNodes launch_nodes(const Scenario& scenario);

}  // namespace titer
