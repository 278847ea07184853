#pragma once
// Shipped data by name, for tests.

#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer::shipped {

inline Document cluster_document(std::string_view name) {
  Document document = load_data(kClusterData, name);
  Value* chip = document.root.find("chip");
  *chip = adopt(document, load_data(kChipData, std::string(chip->text)));
  Value* network = document.root.find("network");
  if (network != nullptr && network->kind == Value::Kind::text) {
    *network = adopt(document, load_data(kNetworkData, network->text));
  }
  Value* topology = document.root.find("node")->find("fabric")->find("topology");
  if (topology != nullptr) {
    *topology = adopt(document, load_data(kTopologyData, std::string(topology->text)));
  }
  return document;
}

template <class Read>
auto read_all(const Document& document, Read read) {
  Problems problems;
  Reader in(document, problems);
  auto value = read(in);
  problems.raise();
  return value;
}

inline Cluster cluster(std::string_view name) {
  return read_all(cluster_document(name), read_cluster);
}
inline Model any_model(std::string_view name) {
  return read_all(load_data(kModelData, name), read_model);
}
inline Transformer model(std::string_view name) {
  return read_all(load_data(kModelData, name), read_transformer);
}
/// Of shipped models those that are transformers.
inline std::vector<std::string> transformers() {
  std::vector<std::string> names;
  for (const std::string& name : shipped_names(kModelData)) {
    if (any_model(name).if_transformer() != nullptr) {
      names.push_back(name);
    }
  }
  return names;
}
/// Of these, those whose layers are all alike, without experts: GPT, Llama.
inline std::vector<std::string> plain_transformers() {
  std::vector<std::string> names = transformers();
  std::erase_if(names, [](const std::string& name) {
    const Transformer one = model(name);
    const bool other_norms = one.norms != 2 || one.norm_place != NormPlace::input;
    const bool other_gpt = one.norm == Norm::layernorm && one.positions != Positions::learned;
    return one.experts || one.latent || one.mixer || one.kinds.size() > 1 || other_norms ||
           other_gpt;
  });
  return names;
}
inline Stack stack(std::string_view name = kDefaultStack) {
  return read_all(load_data(kStackData, name), read_stack);
}

}  // namespace titer::shipped
