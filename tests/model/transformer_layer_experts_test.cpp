// Mixtures of experts, parts of layers that are recomputed, and products in narrow types.
#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;
using samples::named;

constexpr double kTokens = 2.0 * 4096;  // of a micro-batch
constexpr double kHidden = 7168;

Slice slice_of(std::int64_t tensor, std::int64_t expert, std::int64_t expert_tensor) {
  return {.micro_batch = 2,
          .sequence = 4096,
          .tensor = tensor,
          .sequence_parallel = tensor > 1,
          .expert = expert,
          .expert_tensor = expert_tensor};
}

/// A layer with experts, of DeepSeek-V3.
OperationList expert_layer(const Slice& slice, Transformer model = samples::deepseek()) {
  std::swap(model.kinds[0], model.kinds[1]);
  return transformer_layer(model, slice);
}

Bytes moe_bytes(const OperationList& list) {
  return saved_bytes(list) - saved_bytes(list, bit(Module::moe));
}

TEST(ExpertBytes, DoNotShrinkWithTheRanksThatHaveOtherExperts) {
  // n = s b / t tokens, D = k n etp: 2hD + 4 f D / etp + 2 f D / etp + 4D; 4En of scores, 4kn of
  // places; shared experts 6 f n.
  const double experts = 256;
  const double k = 8;
  const double f = 2048;
  for (const auto& [t, etp] : {std::pair{1, 1}, {2, 1}, {2, 2}, {8, 1}, {8, 4}}) {
    const double n = kTokens / t;
    const double d = k * n * etp;
    const double expected =
        d * (2 * kHidden + 6 * f / etp + 4) + n * (4 * experts + 4 * k) + 6 * f * n;
    for (const std::int64_t ep : {1, 8, 64}) {
      expect_close(moe_bytes(expert_layer(slice_of(t, ep, etp))).si(), expected);
    }
  }
}

TEST(ExpertBytes, IncludeOutputsThatAreWeighedWhenTheyAreBack) {
  Slice slice = slice_of(2, 8, 1);
  const Bytes before = moe_bytes(expert_layer(slice));
  slice.weighs_outputs = true;
  // The probabilities are kept in either case, of the copies sent or received.
  EXPECT_DOUBLE_EQ((moe_bytes(expert_layer(slice)) - before).si(), 2 * kHidden * 8 * kTokens / 2);
}

TEST(ExpertDispatch, SendsLatentsWhereExpertsWorkOnThese) {
  Transformer model = samples::deepseek();
  const Slice slice = slice_of(2, 8, 1);
  const OperationList whole = expert_layer(slice, model);
  model.experts->latent = 1792;  // a quarter
  const OperationList latents = expert_layer(slice, model);
  for (const char* name : {"permutation", "combination"}) {
    EXPECT_EQ(named(latents, name).forward_transfer.size,
              0.25 * named(whole, name).forward_transfer.size);
  }
  EXPECT_EQ(named(latents, "expert gate and up").forward.flops,
            0.25 * named(whole, "expert gate and up").forward.flops);
  // Every rank of the tensor group projects its part of the tokens, with all of the matrix.
  const double flops = 2 * kTokens / 2 * kHidden * 1792;
  EXPECT_DOUBLE_EQ(named(latents, "experts' latent").forward.flops.si(), flops);
  EXPECT_DOUBLE_EQ(named(latents, "experts' hidden state").forward.flops.si(), flops);
  EXPECT_EQ(named(latents, "router").forward.flops, named(whole, "router").forward.flops);
}

TEST(DenseDispatch, MultipliesTokensByMasksOfAllPlaces) {
  Transformer model = samples::deepseek();
  Routing& routing = model.experts->routing;
  routing.capacity_factor = 2.0;
  routing.padded = true;
  const Slice slice = slice_of(2, 8, 1);
  const OperationList copied = expert_layer(slice, model);
  routing.dense_group = 1024;
  const OperationList dense = expert_layer(slice, model);
  // GSEC,GSM->EGCM with G S = s b / t, E = 256, C = 2 x 1024 x 8 / 256, M = 7168.  [E4]
  const double flops = 2 * kTokens / 2 * 256 * 64 * kHidden;
  const Operation& to = named(dense, "permutation");
  const Operation& back = named(dense, "sum of experts");
  EXPECT_DOUBLE_EQ(to.forward.flops.si(), flops);
  EXPECT_DOUBLE_EQ(to.input_gradient.flops.si(), flops);
  EXPECT_DOUBLE_EQ(back.forward.flops.si(), flops);
  EXPECT_DOUBLE_EQ(back.input_gradient.flops.si(), 2 * flops);
  EXPECT_EQ(to.forward_transfer.size, named(copied, "permutation").forward_transfer.size);
  const double mask = 2 * kTokens / 2 * 256 * 64;
  expect_close(
      (named(dense, "choice of experts").saved - named(copied, "choice of experts").saved).si(),
      mask);
  EXPECT_EQ(named(dense, "expert down").forward.flops, named(copied, "expert down").forward.flops);
}

// 1024 x 2 / 2048 places of an expert are one, for each group of tokens; software that lays them
// out in fours has four, all of which are sent and computed. [lingvo, Top2GatingOnLogits]
TEST(DenseDispatch, HasAsManyPlacesAsTheMultipleOfItsSoftware) {
  Routing routing{.capacity_factor = 1.0, .padded = true, .dense_group = 1024};
  EXPECT_EQ(capacity_of(routing, 2048, 2048, 2), 2.0);
  EXPECT_EQ(capacity_of(routing, 1024, 1000, 2), 3.0) << "2.048, rounded up";
  routing.capacity_multiple = 4;
  EXPECT_EQ(capacity_of(routing, 2048, 2048, 2), 8.0) << "of two groups";
  EXPECT_EQ(capacity_of(routing, 1024, 512, 2), 4.0);
  EXPECT_EQ(capacity_of(routing, 256, 128, 2), 4.0) << "fewer tokens than a group";
  routing.dense_group.reset();
  EXPECT_EQ(capacity_of(routing, 2048, 2048, 2), 4.0) << "all together";

  Transformer model = samples::deepseek();
  model.experts->routing = {.capacity_factor = 1.0, .padded = true, .dense_group = 1024};
  const Slice slice = slice_of(2, 8, 1);
  const OperationList plain = expert_layer(slice, model);  // 1024 x 8 / 256 = 32 places
  model.experts->routing.capacity_multiple = 64;
  const OperationList doubled = expert_layer(slice, model);
  for (const char* const name : {"permutation", "sum of experts"}) {
    EXPECT_EQ(named(doubled, name).forward.flops, 2 * named(plain, name).forward.flops) << name;
  }
}

TEST(FusedExperts, LeaveNoKernelsBetweenTheirProducts) {
  Slice slice = slice_of(1, 8, 1);
  slice.product_type = DataType::fp8;
  const OperationList separate = expert_layer(slice);
  slice.fused_experts = true;
  const OperationList fused = expert_layer(slice);
  EXPECT_FALSE(named(fused, "expert activation").forward.exists());
  EXPECT_FALSE(named(fused, "expert activation").input_gradient.exists());
  const auto casts = [](const OperationList& list, Kernel Operation::*pass) {
    Bytes sum;
    for (const Operation& op : list) {
      sum += std::string_view(op.name) == "cast" ? (op.*pass).bytes : Bytes{};
    }
    return sum.si();
  };
  // Of the activations, read in 16 bits and written twice in 8; and of their inputs' gradients.
  const double elements = 8 * kTokens * 2048;
  expect_close(casts(separate, &Operation::forward) - casts(fused, &Operation::forward),
               4 * elements);
  expect_close(
      casts(separate, &Operation::input_gradient) - casts(fused, &Operation::input_gradient),
      4 * 2 * elements);
  EXPECT_EQ(saved_bytes(fused), saved_bytes(separate));
  EXPECT_EQ(named(fused, "expert down").forward.flops,
            named(separate, "expert down").forward.flops);
  EXPECT_EQ(named(fused, "expert down").loops, 1);  // for the host
  EXPECT_EQ(named(separate, "expert down").loops, 256 / 8);
}

TEST(NarrowProducts, LookForTheLargestOfNumbersThatBecomeFp4) {
  Slice slice = slice_of(1, 1, 1);
  const auto cast = [&](DataType type) {
    slice.product_type = type;
    return named(transformer_layer(samples::llama(), slice), "cast").forward.bytes.si();
  };
  const double elements = kTokens * 4096;
  expect_close(cast(DataType::fp8), elements * (2 + 2 * 1));
  expect_close(cast(DataType::fp4), elements * (2 * 2 + 2 * 0.5));
}

TEST(NarrowProducts, TakeInTheOutputLayerWhereTheyAreToldTo) {
  Slice slice = slice_of(1, 1, 1);
  slice.product_type = DataType::fp8;
  EXPECT_FALSE(named(output_head(samples::llama(), slice), "logits").forward.narrow);
  slice.narrow_logits = true;
  EXPECT_TRUE(named(output_head(samples::llama(), slice), "logits").forward.narrow);
}

TEST(ExpertDispatch, CopiesTokensWhereTheyArrive) {
  Slice slice = slice_of(1, 8, 1);
  const OperationList copied = expert_layer(slice);
  slice.expert_sent = 0.5;
  const OperationList once = expert_layer(slice);
  const double copies = 8 * kTokens * kHidden * 2;
  for (const char* name : {"permutation", "combination"}) {
    EXPECT_EQ(named(once, name).forward_transfer.size,
              0.5 * named(copied, name).forward_transfer.size);
    EXPECT_EQ(named(once, name).backward_transfer.size,
              0.5 * named(copied, name).backward_transfer.size);
  }
  // Tokens are read; what came is read and its copies written, and the other way; the exchange
  // adds up as it writes.
  EXPECT_DOUBLE_EQ(named(once, "permutation").forward.bytes.si(), copies / 8);
  EXPECT_DOUBLE_EQ(named(once, "expert sort").forward.bytes.si(), 1.5 * copies);
  EXPECT_DOUBLE_EQ(named(once, "combination").forward.bytes.si(), 1.5 * copies);
  EXPECT_DOUBLE_EQ(named(once, "sum of experts").forward.bytes.si(), copies / 8);
  EXPECT_EQ(saved_bytes(once), saved_bytes(copied));
}

// All tokens to all ranks that have all experts between them, and sums back; with what the router
// makes of each token, and no exchange besides.  [Megatron-Core, MoEAllGatherTokenDispatcher]
TEST(ExpertDispatch, GathersAllTokensWhereToldTo) {
  Slice slice = slice_of(2, 4, 2);
  slice.gathers_tokens = true;
  const OperationList list = expert_layer(slice);
  const double all = 4 * 2 * kTokens / 2;
  const double experts = 256;
  const Operation gather = named(list, "token gather");
  EXPECT_EQ(gather.forward_transfer.kind, Collective::all_gather);
  EXPECT_EQ(gather.forward_transfer.group, LayerGroup::all_experts);
  expect_close(gather.forward_transfer.size.si(), all * (2 * kHidden + 5 * experts));
  EXPECT_EQ(gather.backward_transfer.kind, Collective::reduce_scatter);
  expect_close(gather.backward_transfer.size.si(), all * (2 * kHidden + 4 * experts));
  const Operation back = named(list, "combination");
  EXPECT_EQ(back.forward_transfer.kind, Collective::reduce_scatter);
  EXPECT_EQ(back.backward_transfer.kind, Collective::all_gather);
  expect_close(back.forward_transfer.size.si(), all * 2 * kHidden);
  // Experts get the same tokens, but nothing is exchanged among parts of an expert.
  slice.gathers_tokens = false;
  const OperationList exchanged = expert_layer(slice);
  EXPECT_EQ(named(list, "expert down").forward.flops,
            named(exchanged, "expert down").forward.flops);
  EXPECT_FALSE(named(list, "expert down").forward_transfer.exists());
  EXPECT_TRUE(named(exchanged, "expert down").forward_transfer.exists());
  for (const Operation& op : list) {
    EXPECT_NE(op.forward_transfer.group, LayerGroup::expert) << op.name;
    EXPECT_NE(op.name, "expert sort");
  }
  // One rank with all experts has nobody to get tokens from.
  Slice alone = slice_of(1, 1, 1);
  alone.gathers_tokens = true;
  EXPECT_EQ(saved_bytes(expert_layer(alone)), saved_bytes(expert_layer(slice_of(1, 1, 1))));
}

TEST(ExpertLoads, StretchWhatTheBusiestRankReceives) {
  const double factor = 38801.0 / 32768.0;
  const OperationList even = expert_layer(slice_of(2, 8, 1));
  Slice slice = slice_of(2, 8, 1);
  slice.expert_load = factor;
  const OperationList list = expert_layer(slice);
  for (const char* name : {"expert gate and up", "expert activation", "expert down"}) {
    expect_close(named(list, name).forward.flops.si(),
                 factor * named(even, name).forward.flops.si());
    expect_close(named(list, name).saved.si(), factor * named(even, name).saved.si());
  }
  for (const char* name : {"permutation", "combination"}) {
    expect_close(named(list, name).forward_transfer.size.si(),
                 factor * named(even, name).forward_transfer.size.si());
  }
  EXPECT_EQ(named(list, "router").forward.flops, named(even, "router").forward.flops);
  EXPECT_EQ(named(list, "shared down").saved, named(even, "shared down").saved);
}

TEST(ExpertLoads, LeaveOutCopiesOfTokensThatAreDropped) {
  const OperationList all = expert_layer(slice_of(2, 8, 1));
  Slice slice = slice_of(2, 8, 1);
  slice.expert_kept = 0.75;
  const OperationList list = expert_layer(slice);
  // A read of the tokens and a write of eight copies, or the other way round.
  const double token = 2 * kHidden * kTokens / 2;
  for (const char* name : {"permutation", "sum of experts"}) {
    EXPECT_DOUBLE_EQ(named(all, name).forward.bytes.si(), (1 + 8) * token);
    EXPECT_DOUBLE_EQ(named(list, name).forward.bytes.si(), (1 + 0.75 * 8) * token);
  }
}

TEST(ExpertTransfers, SendCopiesOfTokensToTheirExpertsAndBack) {
  const OperationList list = expert_layer(slice_of(4, 16, 2));
  const double copies = 8 * kTokens / 4;
  for (const char* name : {"permutation", "combination"}) {
    const Operation op = named(list, name);
    for (const Transfer& transfer : {op.forward_transfer, op.backward_transfer}) {
      EXPECT_EQ(transfer.kind, Collective::all_to_all) << name;
      EXPECT_EQ(transfer.group, LayerGroup::expert) << name;
      EXPECT_DOUBLE_EQ(transfer.size.si(), 2 * kHidden * copies) << name;
    }
  }
  const Operation sort = named(list, "expert sort");
  const Operation down = named(list, "expert down");
  EXPECT_EQ(sort.forward_transfer.kind, Collective::all_gather);
  EXPECT_EQ(sort.backward_transfer.kind, Collective::reduce_scatter);
  EXPECT_EQ(down.forward_transfer.kind, Collective::reduce_scatter);
  EXPECT_EQ(down.backward_transfer.kind, Collective::all_gather);
  for (const Operation& op : {sort, down}) {
    EXPECT_EQ(op.forward_transfer.group, LayerGroup::expert_tensor);
    EXPECT_DOUBLE_EQ(op.forward_transfer.size.si(), 2 * 2 * kHidden * copies);
  }
}

TEST(ExpertTransfers, AreNoneWhereAllExpertsAreHere) {
  for (const Operation& op : expert_layer(slice_of(1, 1, 1))) {
    EXPECT_FALSE(op.forward_transfer.exists()) << op.name;
    EXPECT_NE(op.name, "expert sort");
    EXPECT_NE(op.name, "combination");
  }
}

TEST(ExpertTransfers, GatherResultsWhereEveryRankNeedsAllTokens) {
  Slice slice = slice_of(4, 4, 1);
  slice.sequence_parallel = false;
  const OperationList list = expert_layer(slice);
  EXPECT_EQ(named(list, "sum of experts").forward_transfer.size.si(), 2 * kTokens * kHidden);
  EXPECT_EQ(named(list, "choice of experts").backward_transfer.size.si(), 2 * kTokens * kHidden);
  expect_close(named(list, "expert down").forward.flops.si(),
               2 * (8 * kTokens / 4) * 2048 * kHidden);
}

TEST(ExpertProducts, ReadTheWeightsOfAllExpertsHere) {
  for (const std::int64_t ep : {1, 8, 64}) {
    const Operation up = named(expert_layer(slice_of(2, ep, 2)), "expert gate and up");
    const double rows = 2 * 8 * kTokens / 2;
    const double columns = 2.0 * 2048 / 2;
    const double here = 256.0 / static_cast<double>(ep);
    expect_close(up.forward.bytes.si(),
                 2 * (rows * kHidden + here * kHidden * columns + rows * columns));
    expect_close(up.weight_gradient.bytes.si(),
                 2 * (rows * kHidden + rows * columns) + (4 + 4) * here * kHidden * columns);
  }
}

/// Names of the operations that a module repeats.
std::string repeated(const OperationList& list, Module module) {
  std::string names;
  for (const Operation& op : list) {
    names += op.is_part_of(module) ? std::string(op.name) + "; " : "";
  }
  return names;
}

struct Freed {
  Module module;
  double bytes;  // of each of the micro-batch's tokens
  std::string repeats;
};

TEST(RecomputedModules, FreeWhatTheyProduce) {
  // One rank; per token. [Megatron-LM, --recompute-modules]
  const double heads = 128;
  const double up = 2 * heads * ((128 + 64) + (128 + 64) + 128);
  const double latents = 2 * (1536 + 512 + 64) + 2 * (1536 + 512);
  const double routed = 8 * (2 * kHidden + 6 * 2048 + 4) + 4 * 256 + 4 * 8;
  const std::string shared =
      "shared gate and up; shared activation; shared down; sum with shared experts; ";
  const std::vector<Freed> table = {
      {Module::core_attention, 4 * heads, "flash attention; "},
      {Module::layer_norm, 2 * 2 * kHidden, "attention norm; MLP norm; "},
      {Module::latent_up, up, "query up; key and value up; rotary positions; flash attention; "},
      {Module::attention,
       latents + up + 2 * heads * 128 + 4 * heads,
       "latent down; latent norm; query up; key and value up; rotary positions; flash attention; "
       "attention output; "},
      {Module::mlp, 0, ""},
      {Module::moe,
       routed + 6 * 2048,
       "router; choice of experts; permutation; expert gate and up; expert activation; expert "
       "down; sum of experts; " +
           shared},
      {Module::activation, 8 * 2 * 2048, "expert activation; "},
      {Module::shared_experts, 6 * 2048, shared}};
  const OperationList list = expert_layer(slice_of(1, 1, 1));
  for (const auto& [module, bytes, repeats] : table) {
    const Bytes freed = saved_bytes(list) - saved_bytes(list, bit(module));
    EXPECT_NEAR(freed.si(), kTokens * bytes, 1e-12 * kTokens * bytes) << repeats;
    if (module != Module::latent_up) {
      EXPECT_EQ(repeated(list, module), repeats);
    }
  }
  // Of the projections to heads core attention is no part.
  EXPECT_EQ(repeated(list, Module::latent_up), "query up; key and value up; rotary positions; ");
}

TEST(RecomputedModules, OfADenseLayerFreeTheMlp) {
  const OperationList list = transformer_layer(samples::llama(), slice_of(4, 1, 1));
  const Bytes freed = saved_bytes(list) - saved_bytes(list, bit(Module::mlp));
  EXPECT_DOUBLE_EQ(freed.si(), kTokens * 6 * 14336 / 4);
  EXPECT_EQ(saved_bytes(list, bits(Module::moe, Module::latent_up)), saved_bytes(list));
}

TEST(NarrowProducts, KeepInputsOfOneByteAndReadOneByte) {
  const Slice wide = slice_of(4, 1, 1);
  Slice narrow = wide;
  narrow.product_type = DataType::fp8;
  const Transformer model = samples::llama();
  const OperationList before = transformer_layer(model, wide);
  const OperationList after = transformer_layer(model, narrow);
  const double h = 4096;
  const double qkv = (h + 2 * 8 * 128) / 4;
  const Operation product = named(after, "query, key, value");
  EXPECT_TRUE(product.forward.narrow && product.input_gradient.narrow);
  EXPECT_TRUE(product.weight_gradient.narrow);
  EXPECT_FALSE(named(before, "query, key, value").forward.narrow);
  expect_close(product.forward.bytes.si(), kTokens * h + h * qkv + 2 * kTokens * qkv);
  EXPECT_DOUBLE_EQ(product.saved.si(), kTokens * h / 4);
  // Gathered as they are multiplied; sums of partial results stay wide.
  EXPECT_DOUBLE_EQ(product.forward_transfer.size.si(), kTokens * h);
  EXPECT_DOUBLE_EQ(product.backward_transfer.size.si(), 2 * kTokens * h);
  EXPECT_DOUBLE_EQ(named(after, "MLP down").forward_transfer.size.si(), 2 * kTokens * h);
  // Two product inputs of h, one of a d and one of f shrink by a byte; but attention's own
  // backward pass needs what it wrote as it was, beside the product's copy.
  const double shrunk = kTokens / 4 * (2 * h + h + 14336);
  const double more = kTokens / 4 * 2 * h;
  expect_close(saved_bytes(after).si(), saved_bytes(before).si() - shrunk + more);
  EXPECT_EQ(named(after, "attention norm").saved, named(before, "attention norm").saved);
  EXPECT_FALSE(named(after, "flash attention").forward.narrow);
  EXPECT_FALSE(named(output_head(model, narrow), "logits").forward.narrow);
  // A read of two bytes and two layouts of one, each written.
  EXPECT_DOUBLE_EQ(named(after, "cast").forward.bytes.si(), kTokens * h / 4 * (2 + 1 + 1));
}

TEST(NarrowProducts, KeepTheirInputsAsTheSoftwareDoes) {
  const Slice wide = slice_of(4, 1, 1);
  Slice narrow = wide;
  narrow.product_type = DataType::fp8;
  const Transformer model = samples::llama();
  const double plain = saved_bytes(transformer_layer(model, narrow)).si();
  narrow.kept_input = Bytes::from_si(1 + 1 / 32.0);
  const double inputs = kTokens / 4 * (3 * 4096 + 14336);
  expect_close(saved_bytes(transformer_layer(model, narrow)).si(), plain + inputs / 32);
  // Converted again by the backward pass: nothing is kept but what would be without.
  narrow.kept_input = 2_B;
  EXPECT_EQ(saved_bytes(transformer_layer(model, narrow)),
            saved_bytes(transformer_layer(model, wide)));
}

// What is between two narrow products is kept as narrow as they read it. [DeepSeek-V3 2024, 3.3.3]
TEST(NarrowProducts, KeepNarrowResultsWhereTheSoftwareDoes) {
  Slice wide{.micro_batch = 2, .sequence = 4096, .product_type = DataType::fp8};
  Slice slice = wide;
  slice.narrow_results = true;
  const Transformer model = samples::llama();
  const OperationList before = transformer_layer(model, wide);
  const OperationList after = transformer_layer(model, slice);
  // Gate and up by a byte each; attention's result in 12 bits, once, for two bytes and one.
  const double shrunk = kTokens * (2 * 14336 + (2 + 1 - 1.5) * 4096);
  expect_close(saved_bytes(after).si(), saved_bytes(before).si() - shrunk);
  EXPECT_DOUBLE_EQ(named(after, "attention output").saved.si(), 1.5 * kTokens * 4096);
  for (const char* product : {"query, key, value", "MLP gate and up", "MLP down"}) {
    EXPECT_EQ(named(after, product).output_gradient, named(before, product).output_gradient / 2.0);
    EXPECT_EQ(named(after, product).forward.bytes, named(before, product).forward.bytes);
  }
  wide.product_type.reset();
  slice.product_type.reset();
  EXPECT_EQ(saved_bytes(transformer_layer(model, slice)),
            saved_bytes(transformer_layer(model, wide)));
}

TEST(RecomputedOperations, KeepAttentionAndEverySecondProduct) {
  const Slice slice{.micro_batch = 2, .sequence = 4096};
  const OperationList list = transformer_layer(samples::llama(), slice);
  // Of query, key, value, output, gate, up and down the first, third, fifth and seventh.
  const double query = 4096;
  const double value = 8 * 128;
  const double gate = 14336;
  const double down = 4096;
  const double attention = 2 * 4096 + 4 * 32;  // and a sum of exponentials for each head
  expect_close(result_bytes(list).si(), kTokens * (2 * (query + value + gate + down) + attention));
  EXPECT_DOUBLE_EQ(named(list, "query, key, value").repeated, value / (query + 2 * value));
  EXPECT_DOUBLE_EQ(named(list, "MLP gate and up").repeated, 1 / 2.0);
  EXPECT_EQ(named(list, "MLP down").repeated, 0);
  EXPECT_EQ(named(list, "flash attention").repeated, 0);
  EXPECT_EQ(named(list, "attention norm").repeated, 1);
}

TEST(CrossEntropy, HoldsWhatTheSoftwareHoldsOfALogit) {
  Slice slice{.micro_batch = 2, .sequence = 4096};
  EXPECT_EQ(named(output_head(samples::llama(), slice), "cross-entropy").working, Bytes{});
  slice.logit = 12_B;
  const Operation loss = named(output_head(samples::llama(), slice), "cross-entropy");
  EXPECT_DOUBLE_EQ((loss.saved + loss.working).si(), 3 * loss.saved.si());
  slice.logit = 4_B;  // two of the logit and two of its gradient
  const Operation narrow = named(output_head(samples::llama(), slice), "cross-entropy");
  EXPECT_EQ(narrow.saved, narrow.working);
  EXPECT_DOUBLE_EQ(narrow.saved.si(), loss.saved.si() / 2);
}

TEST(NarrowProducts, OfExpertsAreNarrowAndTheRouterIsNot) {
  Slice slice = slice_of(2, 8, 1);
  slice.product_type = DataType::fp8;
  const OperationList list = expert_layer(slice);
  EXPECT_TRUE(named(list, "expert down").forward.narrow);
  EXPECT_DOUBLE_EQ(named(list, "expert down").saved.si(), 8 * kTokens / 2 * 2048);
  EXPECT_FALSE(named(list, "router").forward.narrow);
  EXPECT_DOUBLE_EQ(named(list, "router").saved.si(), 2 * kTokens / 2 * kHidden);
  // Shared experts have a copy of their own of what the router keeps.
  EXPECT_DOUBLE_EQ(named(list, "shared gate and up").saved.si(), kTokens / 2 * kHidden);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
