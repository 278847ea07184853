// The collectives that tensor parallelism wants of a layer. [Shoeybi 2019; Korthikanti 2022]
#include <gtest/gtest.h>

#include <map>

#include "model/samples.hpp"
#include "titer/collectives/collective.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kSequence = 1024;

enum class Sequence { whole, parallel };

Slice slice_of(std::int64_t tensor, Sequence sequence) {
  return {.micro_batch = kBatch,
          .sequence = kSequence,
          .tensor = tensor,
          .sequence_parallel = sequence == Sequence::parallel,
          .type = DataType::bf16,
          .attention = AttentionKernel::flash};
}

/// 2 s b h: one activation at 16 bit.
Bytes activation(const Transformer& model) {
  return 2.0 * kSequence * kBatch * static_cast<double>(model.hidden) * 1_B;
}

using Wanted = std::map<Collective, int>;

/// How many of each collective one role asks for, each of which must have that size.
template <class Role>
Wanted wanted(const OperationList& list, Role role, Bytes size) {
  Wanted counts;
  for (const Operation& op : list) {
    const Transfer transfer = op.*role;
    if (transfer.exists()) {
      EXPECT_EQ(transfer.size, size) << op.name;
      ++counts[transfer.kind];
    }
  }
  return counts;
}

std::vector<Transformer> models() { return {samples::gpt3(), samples::llama()}; }

TEST(T26_LayerTransfers, TensorParallelismWantsTwoAllReducesEachWay) {
  for (const Transformer& model : models()) {
    for (const std::int64_t t : {2, 4, 8}) {
      const OperationList list = transformer_layer(model, slice_of(t, Sequence::whole));
      const Bytes size = activation(model);
      EXPECT_EQ(wanted(list, &Operation::forward_transfer, size),
                (Wanted{{Collective::all_reduce, 2}}));
      EXPECT_EQ(wanted(list, &Operation::backward_transfer, size),
                (Wanted{{Collective::all_reduce, 2}}));
      EXPECT_EQ(wanted(list, &Operation::regather_transfer, size), Wanted());
    }
  }
}

TEST(T26_LayerTransfers, SequenceParallelismWantsTwoGathersAndTwoScattersEachWay) {
  const Wanted two_of_each = {{Collective::all_gather, 2}, {Collective::reduce_scatter, 2}};
  for (const Transformer& model : models()) {
    for (const std::int64_t t : {2, 4, 8}) {
      const OperationList list = transformer_layer(model, slice_of(t, Sequence::parallel));
      const Bytes size = activation(model);
      EXPECT_EQ(wanted(list, &Operation::forward_transfer, size), two_of_each);
      EXPECT_EQ(wanted(list, &Operation::backward_transfer, size), two_of_each);
      // The split inputs of the two column products are gathered again for their weights.
      EXPECT_EQ(wanted(list, &Operation::regather_transfer, size),
                (Wanted{{Collective::all_gather, 2}}));
    }
  }
}

TEST(T26_LayerTransfers, OneRankWantsNone) {
  for (const Transformer& model : models()) {
    for (const Sequence sequence : {Sequence::whole, Sequence::parallel}) {
      const Slice slice = slice_of(1, sequence);
      for (const OperationList& list :
           {embedding(model, slice), transformer_layer(model, slice), output_head(model, slice)}) {
        for (const Operation& op : list) {
          EXPECT_FALSE(op.forward_transfer.exists()) << op.name;
          EXPECT_FALSE(op.backward_transfer.exists()) << op.name;
          EXPECT_FALSE(op.regather_transfer.exists()) << op.name;
        }
      }
    }
  }
}

TEST(T26_LayerTransfers, BelongToTheProducts) {
  const Slice whole = slice_of(8, Sequence::whole);
  for (const Operation& op : transformer_layer(samples::gpt3(), whole)) {
    const bool row_split = op.name == "attention output" || op.name == "MLP down";
    const bool column_split = op.name == "query, key, value" || op.name == "MLP up";
    EXPECT_EQ(op.forward_transfer.exists(), row_split) << op.name;
    EXPECT_EQ(op.backward_transfer.exists(), column_split) << op.name;
    EXPECT_EQ(op.column_split, column_split) << op.name;
  }
}

TEST(T26_LayerTransfers, GatherBeforeColumnsAndScatterAfterRows) {
  const Slice parallel = slice_of(8, Sequence::parallel);
  for (const Operation& op : transformer_layer(samples::llama(), parallel)) {
    if (!op.forward_transfer.exists()) {
      continue;
    }
    EXPECT_EQ(op.forward_transfer.kind,
              op.column_split ? Collective::all_gather : Collective::reduce_scatter)
        << op.name;
    EXPECT_EQ(op.backward_transfer.kind,
              op.column_split ? Collective::reduce_scatter : Collective::all_gather)
        << op.name;
    EXPECT_EQ(op.regather_transfer.exists(), op.column_split) << op.name;
  }
}

/// Bytes that one rank sends for a layer, forward and backward, re-gathers aside.
Bytes sent(const OperationList& list, int ranks) {
  Bytes sum;
  for (const Operation& op : list) {
    for (const Transfer& transfer : {op.forward_transfer, op.backward_transfer}) {
      sum += volume(transfer.kind, transfer.size, ranks);
    }
  }
  return sum;
}

TEST(T1_TensorVolume, IsFourAllReducesPerLayer) {
  // 4 * 2bsh * 2(t-1)/t bytes per GPU, layer and micro-batch.
  const Transformer model = samples::gpt3();
  for (const int t : {2, 4, 8}) {
    const Bytes expected = 4.0 * activation(model) * (2.0 * (t - 1) / t);
    const Bytes whole = sent(transformer_layer(model, slice_of(t, Sequence::whole)), t);
    EXPECT_DOUBLE_EQ(whole / expected, 1.0);
    // Sequence parallelism cuts each all-reduce in two halves and sends the same.
    const Bytes split = sent(transformer_layer(model, slice_of(t, Sequence::parallel)), t);
    EXPECT_DOUBLE_EQ(split / expected, 1.0);
  }
}

TEST(EmbeddingTransfers, SumTheRanksRows) {
  const Transformer model = samples::gpt3();
  const Bytes size = activation(model);
  const OperationList whole = embedding(model, slice_of(4, Sequence::whole));
  EXPECT_EQ(wanted(whole, &Operation::forward_transfer, size),
            (Wanted{{Collective::all_reduce, 1}}));
  EXPECT_EQ(wanted(whole, &Operation::backward_transfer, size), Wanted());
  const OperationList parallel = embedding(model, slice_of(4, Sequence::parallel));
  EXPECT_EQ(wanted(parallel, &Operation::forward_transfer, size),
            (Wanted{{Collective::reduce_scatter, 1}}));
  EXPECT_EQ(wanted(parallel, &Operation::backward_transfer, size),
            (Wanted{{Collective::all_gather, 1}}));
}

TEST(OutputHeadTransfers, AreThoseOfAColumnProductAndThreeNumbersPerToken) {
  const Transformer model = samples::gpt3();
  for (const Sequence sequence : {Sequence::whole, Sequence::parallel}) {
    const bool parallel = sequence == Sequence::parallel;
    const OperationList list = output_head(model, slice_of(4, sequence));
    ASSERT_EQ(list.size(), 3U);
    const Operation& norm = list.begin()[0];
    const Operation& logits = list.begin()[1];
    const Operation& loss = list.begin()[2];
    EXPECT_FALSE(norm.forward_transfer.exists());
    EXPECT_TRUE(logits.column_split);
    EXPECT_EQ(logits.forward_transfer.exists(), parallel);
    EXPECT_EQ(logits.regather_transfer.exists(), parallel);
    EXPECT_EQ(logits.backward_transfer.kind,
              parallel ? Collective::reduce_scatter : Collective::all_reduce);
    EXPECT_EQ(logits.backward_transfer.size, activation(model));
    EXPECT_EQ(loss.forward_transfer.kind, Collective::all_reduce);
    EXPECT_EQ(loss.forward_transfer.size, 3.0 * kBatch * kSequence * 4_B);
    EXPECT_FALSE(loss.backward_transfer.exists());
  }
}

TEST(LayerTransfers, GrowWithTheElement) {
  Slice wide = slice_of(4, Sequence::whole);
  wide.type = DataType::fp32;
  const Transformer model = samples::llama();
  EXPECT_EQ(wanted(transformer_layer(model, wide),
                   &Operation::forward_transfer,
                   (4.0 / 2.0) * activation(model)),
            (Wanted{{Collective::all_reduce, 2}}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
