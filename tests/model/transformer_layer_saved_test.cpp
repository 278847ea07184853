// What a layer keeps for its backward pass. [Korthikanti 2022, table 2]
#include <gtest/gtest.h>

#include "model/samples.hpp"
#include "titer/model/transformer/transformer_layer.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::expect_close;

constexpr std::int64_t kBatch = 4;
constexpr double kB = kBatch;

enum class Sequence { whole, parallel };

Slice slice_of(const Transformer& model,
               std::int64_t tensor,
               Sequence sequence,
               AttentionKernel attention) {
  return {.micro_batch = kBatch,
          .sequence = model.max_sequence,
          .tensor = tensor,
          .sequence_parallel = sequence == Sequence::parallel,
          .type = DataType::fp16,
          .attention = attention};
}

enum class Core { kept, recomputed };

double saved(const Transformer& model,
             std::int64_t tensor,
             Sequence sequence,
             AttentionKernel attention,
             Core core = Core::kept) {
  const Slice slice = slice_of(model, tensor, sequence, attention);
  return saved_bytes(transformer_layer(model, slice),
                     core == Core::kept ? Modules{0} : bit(Module::core_attention))
      .si();
}

constexpr std::array kGpts = {"gpt3-175b", "megatron-22b", "mt-nlg-530b", "megatron-1t"};

/// The letters of the paper.
struct Letters {
  double sbh = 0;
  double as_over_h = 0;
};
Letters letters_of(const Transformer& model) {
  const auto s = static_cast<double>(model.max_sequence);
  const auto h = static_cast<double>(model.hidden);
  const auto a = static_cast<double>(model.heads);
  return {.sbh = s * kB * h, .as_over_h = a * s / h};
}

TEST(T27_ActivationBytes, OneRankKeeps34And5) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const auto [sbh, as_over_h] = letters_of(model);
    expect_close(saved(model, 1, Sequence::whole, AttentionKernel::materialised),
                 sbh * (34 + 5 * as_over_h));
  }
}

TEST(T27_ActivationBytes, TensorParallelismKeeps10OnEveryRank) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const auto [sbh, as_over_h] = letters_of(model);
    for (const std::int64_t ranks : {2, 4, 8}) {
      const auto t = static_cast<double>(ranks);
      expect_close(saved(model, ranks, Sequence::whole, AttentionKernel::materialised),
                   sbh * (10 + 24 / t + 5 * as_over_h / t));
    }
  }
}

TEST(T27_ActivationBytes, SequenceParallelismDividesAllOfIt) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const auto [sbh, as_over_h] = letters_of(model);
    for (const std::int64_t ranks : {2, 4, 8}) {
      const auto t = static_cast<double>(ranks);
      expect_close(saved(model, ranks, Sequence::parallel, AttentionKernel::materialised),
                   sbh / t * (34 + 5 * as_over_h));
    }
  }
}

TEST(T27_ActivationBytes, SelectiveRecomputationDropsTheScores) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const double sbh = letters_of(model).sbh;
    const auto selective = [&](std::int64_t ranks, Sequence sequence) {
      return saved(model, ranks, sequence, AttentionKernel::materialised, Core::recomputed);
    };
    expect_close(selective(1, Sequence::whole), 34 * sbh);
    expect_close(selective(8, Sequence::whole), sbh * (10 + 24 / 8.0));
    expect_close(selective(8, Sequence::parallel), 34 * sbh / 8);
  }
}

TEST(T27_ActivationBytes, FullRecomputationKeepsTheInput) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const double sbh = letters_of(model).sbh;
    const auto input = [&](std::int64_t ranks, Sequence sequence) {
      const Slice slice = slice_of(model, ranks, sequence, AttentionKernel::materialised);
      return layer_input_bytes(model, slice).si();
    };
    expect_close(input(1, Sequence::whole), 2 * sbh);
    expect_close(input(8, Sequence::whole), 2 * sbh);
    expect_close(input(8, Sequence::parallel), 2 * sbh / 8);
  }
}

TEST(SavedBytes, OfAModernLayerFollowItsWidths) {
  // Two norm inputs and two product inputs, Q and context, K and V, gate and up and their product;
  // fp32 sums of exponentials: (s b / t) [8h + 4 a d + 4 k d + 6 f] + 4 a b s / t.
  for (const char* name : {"llama2-7b", "llama3-8b", "llama3-405b", "llama3.2-1b"}) {
    const Transformer model = samples::shipped(name);
    const auto h = static_cast<double>(model.hidden);
    const auto ad = static_cast<double>(model.heads * model.head_dim);
    const auto kd = static_cast<double>(model.kv_heads * model.head_dim);
    const auto f = static_cast<double>(model.ffn);
    const auto a = static_cast<double>(model.heads);
    const double sb = static_cast<double>(model.max_sequence) * kB;
    for (const std::int64_t ranks : {1, 2, 8}) {
      const auto t = static_cast<double>(ranks);
      expect_close(saved(model, ranks, Sequence::parallel, AttentionKernel::flash),
                   sb / t * (8 * h + 4 * ad + 4 * kd + 6 * f) + 4 * a * sb / t);
      // Without sequence parallelism every rank keeps the norms' and products' inputs.
      expect_close(saved(model, ranks, Sequence::whole, AttentionKernel::flash),
                   sb * 8 * h + sb / t * (4 * ad + 4 * kd + 6 * f) + 4 * a * sb / t);
    }
  }
}

TEST(SavedBytes, OfLlama3AreWhatWasMeasured) {
  // 16 layers of Llama 3 8B at 4096 tokens: 8.51 GiB on a real device, within half a printed digit.
  Transformer model = samples::shipped("llama3-8b");
  const Slice slice{.micro_batch = 1, .sequence = 4096, .attention = AttentionKernel::flash};
  const Bytes kept = 16.0 * saved_bytes(transformer_layer(model, slice));
  EXPECT_NEAR(kept / 1_GiB, 8.51, 0.005);
}

TEST(SavedBytes, OfFlashAttentionHaveNoScores) {
  // Recomputing core attention then saves the sums of exponentials only.
  const Transformer model = samples::gpt3();
  const double kept = saved(model, 8, Sequence::parallel, AttentionKernel::flash);
  const double selective =
      saved(model, 8, Sequence::parallel, AttentionKernel::flash, Core::recomputed);
  const double sums = 4 * kB * 96 * 2048 / 8;
  expect_close(selective, 34 * letters_of(model).sbh / 8);
  expect_close(kept, 34 * letters_of(model).sbh / 8 + sums);
}

TEST(SavedBytes, OfGroupedQueriesShrinkByTheirKeysAndValues) {
  Transformer grouped = samples::llama();
  Transformer full = grouped;
  full.kv_heads = full.heads;
  const double sb = 8192 * kB;
  for (const AttentionKernel attention : {AttentionKernel::flash, AttentionKernel::materialised}) {
    const double fewer = 2 * 2 * (32 - 8) * 128 * sb / 4;  // two bytes, keys and values, 4 ranks
    expect_close(saved(full, 4, Sequence::whole, attention),
                 saved(grouped, 4, Sequence::whole, attention) + fewer);
  }
}

TEST(SavedBytes, OfTheEmbeddingAreIdsAndTheMask) {
  const Transformer model = samples::gpt3();
  const double sb = 2048 * kB;
  const double h = 12288;
  const auto kept = [&](const Transformer& of, std::int64_t ranks, Sequence sequence) {
    return saved_bytes(embedding(of, slice_of(of, ranks, sequence, AttentionKernel::flash))).si();
  };
  expect_close(kept(model, 1, Sequence::whole), 8 * sb + sb * h);
  expect_close(kept(model, 8, Sequence::whole), 8 * sb + sb * h);
  expect_close(kept(model, 8, Sequence::parallel), 8 * sb + sb * h / 8);
  expect_close(kept(samples::llama(), 8, Sequence::parallel), 8 * 8192 * kB);
}

TEST(SavedBytes, OfTheOutputHeadAre4And4) {
  // Input of the final norm and of the logits, 2sbh each, and fp32 logits: 4sbh (1 + V/h) / t.
  for (const std::int64_t ranks : {1, 2, 8}) {
    const Transformer model = samples::gpt3();
    const auto t = static_cast<double>(ranks);
    const double sbh = letters_of(model).sbh;
    const Slice slice = slice_of(model, ranks, Sequence::parallel, AttentionKernel::flash);
    expect_close(saved_bytes(output_head(model, slice)).si(), 4 * sbh * (1 + 51200.0 / 12288) / t);
  }
}

TEST(SavedBytes, AreProportionalToTheBatch) {
  const Transformer model = samples::llama();
  Slice slice = slice_of(model, 4, Sequence::parallel, AttentionKernel::flash);
  const Bytes four = saved_bytes(transformer_layer(model, slice));
  slice.micro_batch = 3 * kBatch;
  expect_close(saved_bytes(transformer_layer(model, slice)).si(), 3 * four.si());
}

double needed_by_weights(const Transformer& model, std::int64_t tensor, Sequence sequence) {
  const Slice slice = slice_of(model, tensor, sequence, AttentionKernel::materialised);
  return weight_gradient_bytes(transformer_layer(model, slice)).si();
}

// Of 34 + 5 a s / h the products' inputs stay: of query, key, value (2), attention output (2), MLP
// up (2) and down (8). Gradients of their outputs come: 3 x 2, 2, 8 and 2.
TEST(WeightGradientBytes, OfAGptLayerAreInputsAndOutputGradientsOfItsProducts) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const double sbh = letters_of(model).sbh;
    expect_close(needed_by_weights(model, 1, Sequence::whole),
                 sbh * ((2 + 2 + 2 + 8) + (3 * 2 + 2 + 8 + 2)));
  }
}

// Inputs of row-split products and output gradients of column-split ones are split; a row-split
// product's output gradient is whole on every rank, gathered if the tokens are split.
TEST(WeightGradientBytes, OfAGptLayerSplitAsItsProductsDo) {
  for (const char* name : kGpts) {
    const Transformer model = samples::shipped(name);
    const double sbh = letters_of(model).sbh;
    for (const std::int64_t ranks : {2, 4, 8}) {
      const auto t = static_cast<double>(ranks);
      const double split = (2 + 8) / t + (3 * 2 + 8) / t;
      expect_close(needed_by_weights(model, ranks, Sequence::whole), sbh * (2 + 2 + split + 2 + 2));
      expect_close(needed_by_weights(model, ranks, Sequence::parallel),
                   sbh * ((2 + 2) / t + split + 2 + 2));
    }
  }
}

// Llama: per token 2 h + 2 a d + 2 h + 2 f of inputs; of output gradients 2 (a d + 2 k d) + 2 h +
// 2 (2 f) + 2 h.
TEST(WeightGradientBytes, OfALlamaLayerAreInputsAndOutputGradientsOfItsProducts) {
  const Transformer model = samples::llama();
  const double tokens = kB * static_cast<double>(model.max_sequence);
  const double h = 4096;
  const double ad = 32 * 128;
  const double kd = 8 * 128;
  const double f = 14336;
  const double inputs = 2 * h + 2 * ad + 2 * h + 2 * f;
  const double outputs = 2 * (ad + 2 * kd) + 2 * h + 2 * 2 * f + 2 * h;
  const Slice slice = slice_of(model, 1, Sequence::whole, AttentionKernel::flash);
  expect_close(weight_gradient_bytes(transformer_layer(model, slice)).si(),
               tokens * (inputs + outputs));
  // As much as the layer kept but for 128 bytes a token: two norm inputs, two product inputs, Q, K,
  // V, log-sums, attention out, gate and up, activation out. [zero-bubble-pipeline-parallelism,
  // issue 63]
  const double kept = 8 * h + 4 * ad + 4 * kd + 6 * f + 4 * 32;
  expect_close(saved_bytes(transformer_layer(model, slice)).si(), tokens * kept);
  EXPECT_EQ(kept - inputs - outputs, 128);
}

TEST(WeightGradientBytes, AreNoneOfAnOperationWithoutWeights) {
  const Transformer model = samples::gpt3();
  const Slice slice = slice_of(model, 8, Sequence::parallel, AttentionKernel::materialised);
  for (const OperationList& list :
       {transformer_layer(model, slice), embedding(model, slice), output_head(model, slice)}) {
    for (const Operation& op : list) {
      const bool has_weights = op.weight_gradient.exists();
      EXPECT_EQ(op.output_gradient > Bytes{}, has_weights) << op.name;
      EXPECT_LE(op.weight_input, op.saved) << op.name;
      EXPECT_EQ(op.weight_input > Bytes{}, has_weights) << op.name;
    }
  }
}

TEST(WeightGradientBytes, OfTheEndsAreTokenIdsAndTheGradientsOfTablesOutputs) {
  const Transformer model = samples::gpt3();
  const Slice slice = slice_of(model, 8, Sequence::whole, AttentionKernel::materialised);
  const double tokens = kB * static_cast<double>(model.max_sequence);
  const double h = 12288;
  expect_close(weight_gradient_bytes(embedding(model, slice)).si(), tokens * (8 + 2 * h));
  // The logits' input, and their gradient at 16 bit.
  expect_close(weight_gradient_bytes(output_head(model, slice)).si(),
               tokens * (2 * h + 2 * 51200 / 8.0));
}

/// Bytes of a layer of Llama 3 8B in 16 bits that go where some modules are computed again.
double freed(Modules recomputed) {
  const Transformer model = samples::shipped("llama3-8b");
  const OperationList layer =
      transformer_layer(model, slice_of(model, 1, Sequence::whole, AttentionKernel::flash));
  return (saved_bytes(layer) - saved_bytes(layer, recomputed)).si();
}

TEST(SavedBytes, GoByResultWhereACompilerKeepsSomeResultsOnly) {
  const Transformer model = samples::shipped("llama3-8b");
  const double x = kB * static_cast<double>(model.max_sequence) * 2.0;
  const auto h = static_cast<double>(model.hidden);
  const double core = freed(bit(Module::core_attention));
  // What attention returns, what the MLP reads of the residual stream, and what its second
  // product reads.
  EXPECT_DOUBLE_EQ(freed(bit(Module::attention_result)) - core, x * h);
  EXPECT_DOUBLE_EQ(freed(bit(Module::attention_output)), x * h);
  EXPECT_DOUBLE_EQ(freed(bit(Module::mlp_activation)), x * static_cast<double>(model.ffn));
}

TEST(SavedBytes, OfActivationsAreOneByteWhereTheirInputIsKeptInFp8) {
  const Transformer model = samples::shipped("llama3-8b");
  Slice slice = slice_of(model, 1, Sequence::whole, AttentionKernel::flash);
  const auto bytes = [&] { return saved_bytes(transformer_layer(model, slice)).si(); };
  const auto moved = [&] {
    double sum = 0;
    for (const Operation& op : transformer_layer(model, slice)) {
      sum += op.forward.bytes.si();
    }
    return sum;
  };
  const double wide = bytes();
  const double usual = moved();
  slice.fp8_activation_inputs = true;
  const double inputs =
      kB * static_cast<double>(model.max_sequence) * 2.0 * static_cast<double>(model.ffn);
  EXPECT_DOUBLE_EQ(wide - bytes(), inputs * (2 - 1));
  EXPECT_NEAR(moved() - usual, inputs * (2 + 1), 1e-9 * usual) << "read once more, and written";
}

TEST(Casts, GoAroundAttentionInFp8) {
  const Transformer model = samples::shipped("llama3-8b");
  Slice slice = slice_of(model, 1, Sequence::whole, AttentionKernel::flash);
  const double tokens = kB * static_cast<double>(model.max_sequence);
  const double h = static_cast<double>(model.hidden);
  const double keys = 2.0 * h / 4;  // and values
  slice.fp8_attention = true;
  const OperationList layer = transformer_layer(model, slice);
  const auto cast = std::find_if(
      layer.begin(), layer.end(), [](const Operation& op) { return op.name == "attention cast"; });
  ASSERT_NE(cast, layer.end());
  EXPECT_DOUBLE_EQ(cast->forward.bytes.si(), tokens * (2 * h + keys) * (2 + 1));
  EXPECT_EQ(cast->forward.bytes, cast->input_gradient.bytes);
}

TEST(Casts, WriteACopyByColumnsForWeightGradientsAlone) {
  const Transformer model = samples::shipped("llama3-8b");
  Slice slice = slice_of(model, 1, Sequence::whole, AttentionKernel::flash);
  slice.product_type = DataType::fp8;
  const auto moved = [&] {
    double sum = 0;
    for (const Operation& op : transformer_layer(model, slice)) {
      sum += op.name == "cast" ? op.forward.bytes.si() + op.input_gradient.bytes.si() : 0;
    }
    return sum;
  };
  const double both = moved();
  slice.reads_columns = true;
  EXPECT_DOUBLE_EQ(moved(), both * (2 + 1) / (2 + 2)) << "where products read columns, too";
  slice.reads_columns = false;
  slice.adapters = Adapters{.rank = 8};
  EXPECT_DOUBLE_EQ(moved(), both * (2 + 1) / (2 + 2)) << "of frozen weights";
}

/// Each product's input, its output's gradient and its weights, with one rank or several.
struct CastBytes {
  double inputs = 0;
  double outputs = 0;
  double weights = 0;
};
CastBytes around_products(const Transformer& model, double ranks, double share) {
  const double tokens = kB * static_cast<double>(model.max_sequence);
  const auto h = static_cast<double>(model.hidden);
  const auto f = static_cast<double>(model.ffn);
  const double projected = h + 2 * h / 4;  // queries, keys and values
  return {.inputs = tokens * (share * 2 * h + (h + f) / ranks),
          .outputs = tokens * ((projected + 2 * f) / ranks + share * 2 * h),
          .weights = (h * projected + h * h + 3 * h * f) / ranks};
}

TEST(Casts, AreMadeAnewBackwardOfInputsThatAreKeptWideAndOfWeightsForEachProduct) {
  const Transformer model = samples::shipped("llama3-8b");
  Slice slice = slice_of(model, 1, Sequence::whole, AttentionKernel::flash);
  slice.product_type = DataType::fp8;
  slice.casts_again = true;
  slice.casts_weights = true;
  const CastBytes of = around_products(model, 1, 1);
  CastBytes moved;  // by the passes of each
  const auto list = [&] {
    moved = {};
    for (const Operation& op : transformer_layer(model, slice)) {
      if (op.name == "cast") {
        moved.inputs += op.forward.bytes.si();
        moved.outputs += op.input_gradient.bytes.si();
        moved.weights += op.weight_gradient.bytes.si();
      }
    }
  };
  list();
  EXPECT_DOUBLE_EQ(moved.inputs, (of.inputs + of.weights) * (2 + 1));
  EXPECT_DOUBLE_EQ(moved.outputs, of.outputs * (2 + 1 + 1) + of.weights * (2 + 1));
  EXPECT_DOUBLE_EQ(moved.weights, of.inputs * (2 + 1));
  slice.casts_apart = true;
  slice.scales_rows = true;
  list();
  EXPECT_DOUBLE_EQ(moved.inputs, (of.inputs + of.weights) * (2 + 1));
  EXPECT_DOUBLE_EQ(moved.outputs, of.outputs * (3 + 3 + 2) + of.weights * (3 + 2))
      << "columns are written one behind the other first";
  EXPECT_DOUBLE_EQ(moved.weights, of.inputs * (3 + 2));
  slice.adapters = Adapters{.rank = 8};
  list();
  EXPECT_EQ(moved.weights, 0.0) << "no weight gradient reads them";
}

TEST(Casts, OfRowsAreBehindTheGatherOfAllTokens) {
  const Transformer model = samples::shipped("llama3-8b");
  constexpr double kRanks = 4;
  Slice slice = slice_of(model, 4, Sequence::parallel, AttentionKernel::flash);
  slice.product_type = DataType::fp8;
  const auto gathered = [&](std::string_view of) {
    double sum = 0;
    for (const Operation& op : transformer_layer(model, slice)) {
      for (const Transfer& t : {op.forward_transfer, op.backward_transfer, op.regather_transfer}) {
        sum += t.kind == Collective::all_gather && (op.name == "cast") == (of == "cast")
                   ? t.size.si()
                   : 0.0;
      }
    }
    return sum;
  };
  const auto casts = [&] {
    double sum = 0;
    for (const Operation& op : transformer_layer(model, slice)) {
      sum += op.name == "cast" ? op.forward.bytes.si() + op.input_gradient.bytes.si() : 0;
    }
    return sum;
  };
  const double narrow = gathered("product");
  EXPECT_EQ(gathered("cast"), 0.0);
  const CastBytes part = around_products(model, kRanks, 1 / kRanks);
  EXPECT_DOUBLE_EQ(casts(), (part.inputs + part.outputs) * (2 + 1 + 1));
  slice.scales_rows = true;
  EXPECT_EQ(gathered("product"), 0.0) << "no product is beside it";
  EXPECT_DOUBLE_EQ(gathered("cast"), 2 * narrow) << "in 16 bits";
  const CastBytes all = around_products(model, kRanks, 1);
  EXPECT_DOUBLE_EQ(casts(), (all.inputs + all.outputs) * (2 + 1 + 1));
}

TEST(Casts, MoveNothingWhereTheyArePartOfOtherKernels) {
  const Transformer model = samples::shipped("mixtral-8x7b");
  Slice slice = slice_of(model, 1, Sequence::whole, AttentionKernel::flash);
  const auto moved = [&](bool casts) {
    double sum = 0;
    for (const Operation& op : transformer_layer(model, slice)) {
      sum +=
          (op.name == "cast") == casts ? op.forward.bytes.si() + op.input_gradient.bytes.si() : 0;
    }
    return sum;
  };
  slice.product_type = DataType::fp8;
  const double others = moved(false);
  EXPECT_GT(moved(true), 0.0);
  slice.fuses_casts = true;
  EXPECT_EQ(moved(true), 0.0);
  EXPECT_EQ(moved(false), others);
}

TEST(NarrowWeights, AreReadAndWrittenOnceMoreWhereTheyAreTransposed) {
  for (const char* name : {"llama3-8b", "mixtral-8x7b"}) {
    const Transformer model = samples::shipped(name);
    Slice slice = slice_of(model, 2, Sequence::whole, AttentionKernel::flash);
    slice.product_type = DataType::fp8;
    const auto moved = [&] {
      double sum = 0;
      for (const Operation& op : transformer_layer(model, slice)) {
        sum += op.input_gradient.bytes.si();
      }
      return sum;
    };
    double narrow = 0;
    for (const Operation& op : transformer_layer(model, slice)) {
      for (const WeightMatrix& matrix : op.matrices) {
        narrow += op.name == "router" ? 0.0 : matrix.rows * matrix.columns * matrix.count;
      }
    }
    const double kept = moved();
    slice.transposes_weights = true;
    EXPECT_NEAR(moved() - kept, 2.0 * narrow, 1e-9 * kept) << name;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
