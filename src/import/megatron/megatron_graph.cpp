// What Megatron-LM captures in CUDA graphs, by the names of its releases: --enable-cuda-graph
// (0.7),
// --external-cuda-graph (0.9), --cuda-graph-scope (0.12), --cuda-graph-impl (0.15), lists of scopes
// (0.16).

#include <algorithm>

#include "import/import_parts.hpp"
#include "titer/import/foreign_words.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kImplementation = "cuda_graph_impl";

bool asks_for_graphs(const ImportTask& task) {
  const std::string implementation = task.in.word(kImplementation).value_or("none");
  const bool local = task.in.is_on("enable_cuda_graph");
  const bool external = task.in.is_on("external_cuda_graph");
  return local || external || implementation != "none";
}

/// All parts that the model has; of one that is named alone those of a dense model.
std::vector<std::string_view> whole_layers(const ImportTask& task) {
  if (!task.into.model) {
    return {"attention", "mlp"};
  }
  const Transformer& model = *task.into.model;
  const bool is_dense =
      std::ranges::any_of(model.kinds, [](const LayerKind& kind) { return kind.is_dense(); });
  std::vector<std::string_view> parts;
  const auto add = [&](bool has, std::string_view part) {
    if (has) {
      parts.push_back(part);
    }
  };
  add(model.has_attention(), "attention");
  add(model.mixer.has_value(), "mixer");
  add(is_dense, "mlp");
  add(model.experts.has_value(), "router");
  add(model.experts.has_value(), "experts");
  return parts;
}

bool has_scope(const std::vector<std::string>& scopes, std::string_view scope) {
  return includes(scopes, scope);
}

/// What the scopes name, each part once.
std::vector<std::string_view> captured_parts(const ImportTask& task,
                                             const std::vector<std::string>& scopes) {
  std::vector<std::string_view> parts;
  if (scopes.empty() || has_scope(scopes, "full")) {
    parts = whole_layers(task);
  }
  const auto add = [&](std::string_view part) {
    if (!includes(parts, part)) {
      parts.push_back(part);
    }
  };
  for (const std::string& scope : scopes) {
    const auto ours = our_word(kMegatronGraphScopes, scope);
    if (!ours && scope != "full") {
      task.in.fail("cuda_graph_scope",
                   scope +
                       ": expected full, full_iteration, attn, mlp, moe, moe_router, "
                       "moe_preprocess or mamba");
    }
    if (ours) {
      add(*ours);
    }
    if (scope == "moe") {  // a whole MoE layer
      add("router");
    }
  }
  return parts;
}

}  // namespace

void put_megatron_graph(const ImportTask& task) {
  const std::vector<std::string> scopes = listed_words(
      task, task.in.has("cuda_graph_modules") ? "cuda_graph_modules" : "cuda_graph_scope");
  if (!asks_for_graphs(task)) {
    task.in.skip(kSwitchedOff, "cuda_graph_*");
    return;
  }
  task.in.skip("how graphs are captured",
               "cuda_graph_warmup_steps cuda_graph_num_* cuda_graph_use_* "
               "cuda_graph_retain_* cuda_graph_share_*");
  if (has_scope(scopes, "full_iteration") || task.in.word(kImplementation) == "full_iteration") {
    task.into.plan.add("cuda_graph", Value("iteration"));
    return;
  }
  Value list = Value::make_array();
  for (const std::string_view part : captured_parts(task, scopes)) {
    list.push(Value(part));
  }
  task.into.plan.add("cuda_graph", std::move(list));
}

}  // namespace titer
