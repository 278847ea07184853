#include "layered_spec.hpp"
#include "model/model_files.hpp"
#include "titer/model/limits.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostKindsOfBlocks = 1'000;
constexpr double kMostInAll = 1e18;

struct WrittenBlock {
  std::string name{};
  std::int64_t repeat = 1;
};
constexpr std::array kBlockFields = {
    fields::text<&WrittenBlock::name>("name", "its own").or_else("its number"),
    fields::integer<&WrittenBlock::repeat>("repeat", {1, kMostLayers}, "how often it comes"),
    fields::of_schema<WrittenBlock, operations_schema>(
        "operations",
        [](const Field<WrittenBlock>& /*own*/, Reader& /*in*/, WrittenBlock& /*block*/) {},
        "in order")
        .needed()};

struct BlockSpec {
  Reader in;
  WrittenBlock is{};
  std::vector<OperationSpec> operations{};
};

std::vector<BlockSpec> read_blocks(Reader& in) {
  std::vector<BlockSpec> blocks;
  for (Reader& item : in.objects("blocks")) {
    BlockSpec block{.in = item};
    block.is.name = "block " + std::to_string(blocks.size() + 1);
    read_keys<WrittenBlock>(kBlockFields, block.in, block.is);
    block.operations = read_operations(block.in);
    if (block.operations.empty()) {
      block.in.fail("operations", "expected a list of one operation or more");
    }
    block.in.finish();
    blocks.push_back(std::move(block));
  }
  if (blocks.empty() && in.has("blocks")) {
    in.fail("blocks", "expected a list of one block or more");
  }
  return blocks;
}

/// Adds a block as often as it is repeated: a kind of its own as long as its shapes change from
/// copy to copy, and one for all others. None where a shape is wrong.
std::optional<Boundary> add_block(BlockSpec& block, Boundary at, LayeredModel& model) {
  std::int64_t left = block.is.repeat;
  while (left > 0) {
    if (model.kinds.size() == kMostKindsOfBlocks) {
      block.in.fail("repeat", "expected at most 1000 blocks of different shapes");
      return std::nullopt;
    }
    LayeredLayer layer{.name = block.is.name};
    const std::optional<Boundary> end = trace_operations(block.operations, at, layer);
    if (!end) {
      return std::nullopt;
    }
    const std::int64_t count = *end == at ? left : 1;
    model.order.push_back({.kind = static_cast<int>(model.kinds.size()), .count = count});
    model.kinds.push_back(std::move(layer));
    left -= count;
    at = *end;
  }
  return at;
}

void check_size(Reader& in, const LayeredModel& model) {
  double sum = 0;
  for (const LayerRun& run : model.order) {
    for (const LayeredOperation& op : model.kinds[static_cast<std::size_t>(run.kind)].operations) {
      sum += static_cast<double>(run.count) * static_cast<double>(op.parameters);
    }
  }
  if (sum > kMostInAll) {
    in.fail("blocks", "expected at most 10^18 parameters in all");
  }
  if (model.layers() > kMostLayers) {
    in.fail("blocks", "expected at most " + std::to_string(kMostLayers) + " in all");
  }
}

}  // namespace

LayeredModel read_layered(Reader& in) {
  LayeredModel model;
  read_names(in, model);
  auto input = in.maybe_object("input");
  if (!input) {
    if (!in.has("input")) {
      in.fail("input",
              R"(missing; expected the shape of a sample, such as {"channels": 3, )"
              R"("height": 224, "width": 224})");
    }
    static_cast<void>(in.objects("blocks"));
    in.finish();
    return model;
  }
  const std::optional<FeatureMap> map = read_map(*input);
  std::optional<Boundary> at = map ? std::optional(Boundary{.map = *map}) : std::nullopt;
  std::vector<BlockSpec> blocks = read_blocks(in);
  in.finish();
  for (BlockSpec& block : blocks) {
    if (at) {
      at = add_block(block, *at, model);
    }
  }
  if (at) {
    check_size(in, model);
  }
  return model;
}

Value layered_schema() {
  Value block = schema::object();
  add_keys<WrittenBlock>(kBlockFields, block);
  Value object = schema::object();
  add_keys<LayeredModel>(kNameFields<LayeredModel>, object);
  schema::add_key(object,
                  {.key = "input",
                   .about = "the shape of a sample",
                   .required = true,
                   .written = map_schema()});
  schema::add_key(object,
                  {.key = "blocks",
                   .about = "of layers, in order",
                   .required = true,
                   .written = schema::list_of(std::move(block))});
  return object;
}

}  // namespace titer
