#include "memory_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "titer/report/table.hpp"

namespace titer {
namespace {

Value advice_json(std::span<const FitAdvice> advice) {
  Value list = Value::make_array();
  for (const FitAdvice& one : advice) {
    Value change = Value::make_object();
    for (const PlanChange& part : one.changes) {
      change.add(part.path, part.value);
    }
    Value item = Value::make_object();
    item.add("change", std::move(change));
    item.add("iteration_time_s", Value(one.iteration_time.si()));
    item.add("peak_bytes", json_bytes(one.peak));
    list.push(std::move(item));
  }
  return list;
}

/// How much is missing, and what would fit.
std::string advice_text(const StepResult& result, std::span<const FitAdvice> advice) {
  if (result.fits()) {
    return {};
  }
  const Bytes missing = result.memory_peak - result.memory_capacity;
  std::string text = fmt::format("  {} too much", format(missing));
  if (advice.empty()) {
    return text + "; none of the changes tried on as many devices makes it fit\n";
  }
  text += "; would fit with\n";
  std::vector<Row> rows;
  for (const FitAdvice& one : advice) {
    rows.push_back({"  " + one.text() + ":", format(one.iteration_time), format(one.peak)});
  }
  return text + text_table(rows, {Align::left, Align::right, Align::right});
}

}  // namespace

Value json_bytes(Bytes bytes) { return Value(std::int64_t{std::llround(bytes.si())}); }

Value memory_json(const StepResult& result, std::span<const FitAdvice> advice) {
  Value stages = Value::make_array();
  for (const StageMemory& stage : result.memory) {
    Value item = Value::make_object();
    item.add("stage", Value(stage.stage));
    item.add("parameters", Value(std::int64_t{std::llround(stage.parameters.total())}));
    for (const MemoryPart& part : kMemoryParts) {
      item.add(std::string(part.name) + "_bytes", json_bytes(stage.*part.value));
    }
    item.add("total_bytes", json_bytes(stage.total()));
    stages.push(std::move(item));
  }
  Value memory = Value::make_object();
  memory.add("peak_bytes", json_bytes(result.memory_peak));
  memory.add("capacity_bytes", json_bytes(result.memory_capacity));
  memory.add("fits", Value(result.fits()));
  memory.add("peak_stage", Value(result.peak_stage().stage));
  memory.add("stages", std::move(stages));
  if (!result.fits()) {
    memory.add("advice", advice_json(advice));
  }
  return memory;
}

std::string memory_text(const StepResult& result, std::span<const FitAdvice> advice) {
  std::vector<Row> rows = {{"stage"}};
  for (const MemoryPart& part : kMemoryParts) {
    rows.front().emplace_back(part.name);
  }
  rows.front().emplace_back("total");
  for (const StageMemory& stage : result.memory) {
    Row row = {std::to_string(stage.stage)};
    for (const MemoryPart& part : kMemoryParts) {
      row.push_back(fmt::format("{:.2f}", stage.*part.value / 1_GiB));
    }
    row.push_back(fmt::format("{:.2f}", stage.total() / 1_GiB));
    rows.push_back(std::move(row));
  }
  return "memory per device at its peak, GiB by pipeline stage\n" +
         text_table(rows, {Align::right}) + "  " + memory_sentence(result) + "\n" +
         advice_text(result, advice);
}

}  // namespace titer
