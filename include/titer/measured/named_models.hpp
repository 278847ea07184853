#pragma once
// Models that rows of measured runs name.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "titer/measured/run_row.hpp"
#include "titer/model/model.hpp"
#include "titer/scenario/data_files.hpp"

namespace titer {

/// What rows may leave blank of a layer.
struct UsualWidths {
  std::optional<std::int64_t> kv_heads{};
  std::optional<std::int64_t> head_dim{};
  std::optional<std::int64_t> expert_ffn{};
  std::optional<bool> gated{};
  std::optional<LatentAttention> latent{};  // of a row that names such a model, or says "yes"
};

/// Models that rows and families name, each loaded once.
class NamedModels {
 public:
  NamedModels() : shipped_(shipped_names(kModelData)) {}
  /// The family's, or if it has none the shipped one of the row's name, or the Hub's, where the row
  /// states no dimensions or they do not tell it (layers that mix tokens in other ways than by
  /// attention); nullptr otherwise.
  [[nodiscard]] std::shared_ptr<const Model> of(const RunRow& row, const std::string& of_family);
  /// Of a row that leaves some of them blank: what all shipped models have that have the widths
  /// which it states.
  [[nodiscard]] UsualWidths usual_widths(const RunRow& row);

 private:
  std::shared_ptr<const Model> called(const std::string& name);
  std::shared_ptr<const Model> of_name(const RunRow& row);

  std::vector<std::string> shipped_;
  std::map<std::string, std::shared_ptr<const Model>> loaded_;
};

}  // namespace titer
