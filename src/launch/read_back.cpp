#include "read_back.hpp"

#include <fmt/format.h>

#include "titer/estimate/estimate.hpp"
#include "titer/input/read_document.hpp"
#include "titer/model/transformer/transformer_document.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/settled_plan.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

Transformer shipped_model(const std::string& name) {
  return read_document(load_data(kModelData, name), read_transformer);
}

class ReadBack {
 public:
  ReadBack(const Scenario& scenario,
           const ImportedRun& read,
           std::span<const ToldElsewhere> elsewhere)
      : meant_(scenario), read_(read), elsewhere_(elsewhere) {
    meant_.conditions = {};  // of the machine, which no launcher is told
    meant_.plan = settled_plan(scenario);
    meant_.plan.batch_shares = {};
    meant_.training.gradient_precision = scenario.gradient_type();
    estimator_.estimate(meant_, result_);
  }

  std::vector<std::string> lost() {
    add_model();
    Plan plan = read_document({.root = read_.plan, .sources = {}}, read_plan);
    if (read_.plan.find("data") == nullptr) {
      plan.data = meant_.plan.data;
    }
    Scenario back = meant_;
    back.plan = plan;
    back.plan = settled_plan(back);
    compare<Plan>("plan", plan_fields(), meant_.plan, back.plan, &Scenario::plan);
    Training training = read_document({.root = read_.training, .sources = {}},
                                      [&](Reader& in) { return read_training(in, meant_.model); });
    back.training = training;
    back.training.gradient_precision = back.gradient_type();
    compare<Training>(
        "training", training_fields(), meant_.training, back.training, &Scenario::training);
    return std::move(lost_);
  }

 private:
  [[nodiscard]] bool is_told_elsewhere(const std::string& path) const {
    return includes(elsewhere_, path, &ToldElsewhere::path);
  }

  /// Whether a changed scenario takes as long and as much memory.
  bool is_alike(const Scenario& changed) {
    if (!validate(changed).empty()) {
      return false;
    }
    StepResult result;
    estimator_.estimate(changed, result);
    return result.iteration_time == result_.iteration_time &&
           result.memory_peak == result_.memory_peak;
  }

  template <class T>
  void compare(std::string_view section,
               std::span<const Field<T>> table,
               const T& meant,
               const T& back,
               T Scenario::*member) {
    for (const Field<T>& field : table) {
      const std::string path = fmt::format("{}.{}", section, field.key);
      if (field.same == nullptr || field.same(meant, back) || is_told_elsewhere(path)) {
        continue;
      }
      Scenario changed = meant_;
      field.copy(back, changed.*member);
      if (!is_alike(changed)) {
        const auto text = [&](const T& of) {
          return field.write == nullptr ? std::string("set") : bare_text(field.write(of));
        };
        lost_.push_back(fmt::format("{}: {}: would be {}", path, text(meant), text(back)));
      }
    }
  }

  void add_model() {
    if (!read_.model && read_.shipped.empty()) {
      return;
    }
    const Transformer back = read_.model ? *read_.model : shipped_model(read_.shipped);
    const Transformer& meant = *meant_.model.if_transformer();
    Scenario changed = meant_;
    changed.model = Model(back);
    if (parameters(back) == parameters(meant) && is_alike(changed)) {
      return;
    }
    const Value a = transformer_document(meant);
    const Value b = transformer_document(back);
    for (const Value* side : {&a, &b}) {
      for (const auto& [key, value] : side->members) {
        add_model_key(key, a.find(key), b.find(key));
      }
    }
  }

  void add_model_key(const std::string& key, const Value* meant, const Value* back) {
    if (key == "name" || key == "title" || key == "source") {
      return;
    }
    const auto text = [](const Value* value) {
      return value == nullptr ? std::string("as usual") : bare_text(*value);
    };
    const std::string line = fmt::format("model.{}: {}: would be {}", key, text(meant), text(back));
    const bool is_known = includes(lost_, line);
    if (text(meant) != text(back) && !is_known) {
      lost_.push_back(line);
    }
  }

  Scenario meant_;
  const ImportedRun& read_;
  std::span<const ToldElsewhere> elsewhere_;
  Estimator estimator_;
  StepResult result_;
  std::vector<std::string> lost_;
};

}  // namespace

std::vector<std::string> lost_keys(const Scenario& scenario,
                                   const ImportedRun& read,
                                   std::span<const ToldElsewhere> elsewhere) {
  return ReadBack(scenario, read, elsewhere).lost();
}

}  // namespace titer
