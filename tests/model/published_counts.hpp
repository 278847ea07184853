#pragma once
// Models as published: a configuration of only the keys that the count follows from, and the count
// that its authors print or that its weights add up to.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "model/samples.hpp"
#include "titer/model/huggingface/huggingface.hpp"

namespace titer {

struct Published {
  std::string_view name;
  std::string_view config;
  std::int64_t parameters;
};

inline ImportedModel imported_from(const Document& document) {
  Problems problems;
  Reader in(document, problems);
  ImportedModel model = read_huggingface(in);
  problems.raise();
  return model;
}

template <std::size_t n>
void expect_counts(const std::array<Published, n>& models) {
  for (const Published& row : models) {
    const ImportedModel model = imported_from(parse_json(row.config, "config.json"));
    EXPECT_EQ(parameters(model.model), row.parameters) << row.name;
    EXPECT_TRUE(model.ignored.empty()) << row.name << ": " << model.ignored.front();
  }
}

}  // namespace titer
