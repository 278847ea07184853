// What Megatron's settings ask for that is taken in another way here, which is said.

#include "import/import_parts.hpp"
#include "titer/input/known_settings.hpp"

namespace titer {
namespace {

/// Not null, 0 or switched off.
bool asks_for_something(Settings& in, std::string_view key) {
  const Value* const value = in.raw(key);
  const bool is_off = value == nullptr ||
                      (value->kind == Value::Kind::boolean && !value->boolean) ||
                      (value->kind == Value::Kind::number && value->number == 0) ||
                      value->text == "0" || value->text == "False" || value->text == "false";
  return !is_off;
}

}  // namespace

void remark_on_megatron(const ImportTask& task) {
  if (asks_for_something(task.in, "attention_sink_k")) {
    task.in.leave_out("attention_sink_k",
                      "first tokens that all others see beside a window are not modelled");
  }
  // Each concerns a small part of a step, or what the stack's figures hold already.
  const Value otherwise = known_settings("megatron", "taken_otherwise");
  for (const auto& [key, how] : otherwise.members) {
    if (!task.in.is_skipped(key) && asks_for_something(task.in, key)) {
      assume(task, key, how.text);
    }
  }
}

}  // namespace titer
