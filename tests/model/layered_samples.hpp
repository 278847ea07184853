#pragma once
// Layered models that the tests of this room share.

#include <string>

#include "paths.hpp"
#include "titer/input/file.hpp"
#include "titer/model/layered/layered.hpp"

namespace titer::samples {

inline LayeredModel read_layers(std::string_view text) {
  const Document document = parse_json(text, "model.json");
  Problems problems;
  Reader in(document, problems);
  LayeredModel model = read_layered(in);
  problems.raise();
  return model;
}

/// A model of one block with these operations.
inline LayeredModel one_block(const std::string& input, const std::string& operations) {
  return read_layers(R"({"name": "m", "input": )" + input +
                     R"(, "blocks": [{"name": "all", "operations": [)" + operations + "]}]}");
}

inline LayeredModel shipped_layers(const std::string& name) {
  const Document document = load_json(testing::root() / "models" / (name + ".json"));
  Problems problems;
  Reader in(document, problems);
  LayeredModel model = read_layered(in);
  problems.raise();
  return model;
}

inline ModelBlocks blocks_of(const LayeredModel& model, const Slice& slice) {
  ModelBlocks blocks;
  list_blocks(model, slice, blocks);
  return blocks;
}

/// Of all layers.
inline Bytes saved_of(const ModelBlocks& blocks) {
  Bytes sum;
  for (const LayerRun& run : blocks.order) {
    const Block& block = blocks.kinds[static_cast<std::size_t>(run.kind)];
    sum += static_cast<double>(run.count) * saved_bytes(block.operations);
  }
  return sum;
}

}  // namespace titer::samples
