// Transformers in this program's own keys: read, written, and what a file may hold.
#include "titer/model/transformer/transformer_document.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "model/samples.hpp"
#include "titer/input/schema.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// The paths of all keys below a value, with N for any element of a list.
void add_paths(const Value& value, const std::string& path, std::set<std::string>& paths) {
  for (const auto& [key, inner] : value.members) {
    const std::string own = path.empty() ? key : path + "." + key;
    paths.insert(own);
    add_paths(inner, own, paths);
  }
  for (const Value& item : value.items) {
    add_paths(item, path + ".N", paths);
  }
}

/// As is what is read again, and has no key that `titer schema model` does not tell.
TEST(TransformerDocument, IsReadBackAndHasOnlyKeysOfTheSchema) {
  std::set<std::string> known;
  for (const schema::Row& row : schema::rows(transformer_schema())) {
    known.insert(row.path);
  }
  std::set<std::string> written;
  for (const auto& file : std::filesystem::directory_iterator(testing::root() / "models")) {
    const Document document = load_json(file.path());
    if (document.root.find("hidden") == nullptr) {
      continue;  // another kind of model
    }
    const Value value = transformer_document(samples::read_model(to_json(document.root)));
    add_paths(value, "", written);
    EXPECT_EQ(to_json(transformer_document(samples::read_model(to_json(value)))), to_json(value))
        << file.path();
  }
  EXPECT_GT(written.size(), 100U);
  for (const std::string& path : written) {
    EXPECT_TRUE(known.contains(path)) << path;
  }
}

TEST(TransformerDocument, KeepsHowTokensAreRouted) {
  Transformer model = samples::mixtral();
  Routing& routing = model.experts->routing;
  routing = {.shape = RoutingShape::zipf,
             .exponent = 0.5,
             .capacity_factor = 1.25,
             .random_second = true,
             .groups = 4,
             .groups_chosen = 2,
             .padded = true,
             .second_probability = 0.75};
  EXPECT_EQ(samples::read_model(to_json(transformer_document(model))).experts, model.experts);
  routing = {.shape = RoutingShape::measured, .histogram = {1, 2, 1, 2, 1, 2, 1, 2}};
  EXPECT_EQ(samples::read_model(to_json(transformer_document(model))).experts, model.experts);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
