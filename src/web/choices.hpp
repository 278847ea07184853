#pragma once
// What a page can offer: names with what they mean, and the keys of a plan.

#include "titer/input/document.hpp"

namespace titer {

/// {"version", "models": [{"name", "title"}], "clusters", "stacks", "runs": [… with "scenario"],
/// "launchers", "plan", "training": their JSON schemas}.
[[nodiscard]] Value web_choices();

}  // namespace titer
