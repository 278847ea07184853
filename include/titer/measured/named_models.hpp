#pragma once
// Models that rows of measured runs name.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "titer/measured/run_row.hpp"
#include "titer/model/model.hpp"
#include "titer/scenario/data_files.hpp"

namespace titer {

/// Models that rows and families name, each loaded once.
class NamedModels {
 public:
  NamedModels() : shipped_(shipped_names(kModelData)) {}
  /// The family's, or if it has none the shipped one of the row's name, or the Hub's, where the row
  /// states no dimensions or they do not tell it (layers that mix tokens in other ways than by
  /// attention); nullptr otherwise.
  [[nodiscard]] std::shared_ptr<const Model> of(const RunRow& row, const std::string& of_family);

 private:
  std::shared_ptr<const Model> called(const std::string& name);
  std::shared_ptr<const Model> of_name(const RunRow& row);

  std::vector<std::string> shipped_;
  std::map<std::string, std::shared_ptr<const Model>> loaded_;
};

}  // namespace titer
