#include "titer/trace/op_profile.hpp"

#include <algorithm>
#include <filesystem>

#include "titer/input/document.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/number_text.hpp"
#include "trace_file.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestProfile = std::size_t{256} << 20U;
constexpr std::size_t kMostKindsOfOperators = 20;

/// A number, or a text that is one: protobuf writes 64 bits as texts.
std::optional<double> number_of(const Value* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind == Value::Kind::number) {
    return value->number;
  }
  return value->kind == Value::Kind::text ? number_of_text<double>(value->text) : std::nullopt;
}

std::string_view text_of(const Value& node, std::string_view key) {
  const Value* const value = node.find(key);
  return value != nullptr && value->kind == Value::Kind::text ? std::string_view(value->text)
                                                              : std::string_view();
}

class ProfileReader {
 public:
  explicit ProfileReader(const Document& document) : document_(document) {}

  StepBreakdown read() {
    const Value& root = tree();
    const Value* const metrics = root.find("metrics");
    raw_ = metrics != nullptr && number_of(metrics->find("rawTime")).value_or(0) > 0;
    const std::optional<double> time = time_of(root);
    if (!time || !(*time > 0)) {
      fail(root, "expected metrics with a time, or a rawTime, above 0");
    }
    step_.time = as_time(*time);
    double rest = *time;
    for (const Value* child : children(root)) {
      rest -= add(*child, 1);
    }
    // What the profile leaves out of its longest children, or rounds.
    count({.name = "not listed"}, std::max(0.0, rest), 0);
    step_.only_shares = true;
    finish();
    return std::move(step_);
  }

 private:
  [[noreturn]] void fail(const Value& at, std::string_view what) const {
    throw InputError(document_.where(at.origin) + ": " + std::string(what));
  }

  /// By category rather than by program, and with idle time rather than without.
  const Value& tree() {
    for (const std::string_view key :
         {"byCategory", "byProgram", "byCategoryExcludeIdle", "byProgramExcludeIdle"}) {
      const Value* const found = document_.root.find(key);
      if (found != nullptr && found->kind == Value::Kind::object) {
        if (key.ends_with("ExcludeIdle")) {
          step_.remarks.emplace_back("the profile is without idle time");
        }
        return *found;
      }
    }
    fail(document_.root, "expected an op_profile with \"byCategory\" or \"byProgram\"");
  }

  [[nodiscard]] std::optional<double> time_of(const Value& node) const {
    const Value* const metrics = node.find("metrics");
    return metrics == nullptr ? std::nullopt : number_of(metrics->find(raw_ ? "rawTime" : "time"));
  }
  /// rawTime is of picoseconds.
  [[nodiscard]] Seconds as_time(double time) const {
    return Seconds::from_si(raw_ ? 1e-12 * time : time);
  }

  static std::vector<const Value*> children(const Value& node) {
    std::vector<const Value*> children;
    const Value* const list = node.find("children");
    if (list != nullptr) {
      for (const Value& child : list->items) {
        children.push_back(&child);
      }
    }
    return children;
  }

  /// Counts a node with all that is below it; returns its time.
  double add(const Value& node, int depth) {
    if (node.kind != Value::Kind::object) {
      fail(node, "expected a node, an object");
    }
    const std::optional<double> time = time_of(node);
    if (!time || !(*time > 0)) {
      return 0;
    }
    const std::string_view name = text_of(node, "name");
    if (is_idle(name)) {
      step_.idle += as_time(*time);
      return *time;
    }
    const Value* const xla = node.find("xla");
    const std::string_view operation = xla != nullptr ? text_of(*xla, "op") : std::string_view();
    const bool known =
        category_of({.name = name, .hlo_category = operation}) != TraceCategory::other_compute;
    constexpr int deepest = 100;
    double rest = *time;
    if (!known && depth < deepest) {
      for (const Value* child : children(node)) {
        rest -= add(*child, depth + 1);
      }
    }
    const Value* const metrics = node.find("metrics");
    count({.name = name, .hlo_category = operation},
          std::max(0.0, rest),
          number_of(metrics->find("occurrences")).value_or(0));
    return *time;
  }

  void count(const TraceLabel& label, double time, double calls) {
    if (!(time > 0)) {
      return;
    }
    const TraceCategory category = category_of(label);
    CategoryTime& to = step_.categories[static_cast<std::size_t>(category)];
    to.communication_first += as_time(time);
    to.compute_first += as_time(time);
    to.busy += as_time(time);
    to.calls += calls;
    step_.kinds.push_back({.kind = {.name = std::string(label.name), .category = category},
                           .calls = calls,
                           .time = as_time(time),
                           .fastest = {}});
  }

  void finish() {
    std::ranges::stable_sort(step_.kinds, std::ranges::greater(), &KindUse::time);
    step_.kinds.resize(std::min(step_.kinds.size(), kMostKindsOfOperators));
    step_.remarks.emplace_back(
        raw_ ? "times are of all cores and steps together: shares can be compared"
             : "the profile has shares of the time, not seconds");
  }

  const Document& document_;
  bool raw_ = false;
  StepBreakdown step_;
};

}  // namespace

StepBreakdown load_op_profile(const std::filesystem::path& path) {
  const Document document = parse_json(read_pieces(path, kLargestProfile), path.string());
  StepBreakdown step = ProfileReader(document).read();
  step.source = path.string();
  step.format = "op_profile";
  return step;
}

}  // namespace titer
