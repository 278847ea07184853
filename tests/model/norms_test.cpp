// Norms in other places, of other kinds, and what stands at the ends of encoders.
#include <gtest/gtest.h>

#include "model/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using samples::named;

constexpr Slice kWhole{.micro_batch = 2, .sequence = 1024};

std::vector<std::string> names(const OperationList& list) {
  std::vector<std::string> all;
  for (const Operation& op : list) {
    all.emplace_back(op.name);
  }
  return all;
}

Transformer placed(NormPlace place) {
  Transformer model = samples::llama();
  model.norm_place = place;
  return model;
}

TEST(NormPlace, IsBeforeBehindOrAfterTheSum) {
  const auto at = [](NormPlace place) { return names(transformer_layer(placed(place), kWhole)); };
  const std::vector<std::string> before = at(NormPlace::input);
  const std::vector<std::string> behind = at(NormPlace::output);
  const std::vector<std::string> sum = at(NormPlace::sum);
  EXPECT_EQ(before.front(), "attention norm");
  EXPECT_EQ(behind.front(), "query, key, value");
  EXPECT_EQ(behind.back(), "MLP residual");
  EXPECT_EQ(behind[behind.size() - 2], "MLP norm");
  EXPECT_EQ(sum.back(), "MLP norm");
  EXPECT_EQ(sum[sum.size() - 2], "MLP residual");
}

TEST(NormPlace, ChangesNeitherParametersNorWhatIsKept) {
  const Transformer usual = samples::llama();
  for (const NormPlace place : {NormPlace::output, NormPlace::sum}) {
    const Transformer model = placed(place);
    EXPECT_EQ(layer_parameters(model, model.kinds.front()),
              layer_parameters(usual, usual.kinds.front()));
    EXPECT_EQ(saved_bytes(transformer_layer(model, kWhole)).si(),
              saved_bytes(transformer_layer(usual, kWhole)).si());
  }
}

TEST(NormPlace, RecomputesNoInputThatIsNoNormsOutput) {
  const auto freed = [](NormPlace place, std::string_view name) {
    const OperationList list = transformer_layer(placed(place), kWhole);
    return (named(list, name).freed_by & bit(Module::layer_norm)) != 0;
  };
  for (const std::string_view name : {"query, key, value", "MLP gate and up"}) {
    EXPECT_TRUE(freed(NormPlace::input, name));
    EXPECT_TRUE(freed(NormPlace::sum, name));
    EXPECT_FALSE(freed(NormPlace::output, name));
  }
}

TEST(LayerParameters, OfNormsOfEveryKind) {
  const auto replicated = [](Norm norm) {
    Transformer model = samples::llama();
    model.norm = norm;
    return layer_parameters(model, model.kinds.front()).replicated;
  };
  const std::int64_t h = 4096;
  EXPECT_EQ(replicated(Norm::layernorm), 2 * 2 * h);
  EXPECT_EQ(replicated(Norm::layernorm_without_bias), 2 * h);
  EXPECT_EQ(replicated(Norm::rmsnorm), 2 * h);
  EXPECT_EQ(replicated(Norm::layernorm_without_weights), 0);
}

TEST(LayerParameters, OfNormsOfQueriesAndKeys) {
  Transformer model = samples::llama();  // 32 heads and 8 key-value heads of 128
  const ParameterCount plain = layer_parameters(model, model.kinds.front());
  model.qk_norm = true;
  for (const QkNorm of : {QkNorm::each_head, QkNorm::all_heads}) {
    model.qk_norm_of = of;
    EXPECT_EQ(layer_parameters(model, model.kinds.front()).split - plain.split, (32 + 8) * 128);
    EXPECT_EQ(layer_parameters(model, model.kinds.front()).replicated, plain.replicated);
  }
  model.norm = Norm::layernorm;
  const std::int64_t both = layer_parameters(model, model.kinds.front()).split - plain.split;
  EXPECT_EQ(both, 2 * (32 + 8) * 128);  // biases, too
  model.qk_norm_of = QkNorm::each_head;
  EXPECT_EQ(layer_parameters(model, model.kinds.front()).split - plain.split, (32 + 8) * 128);
}

TEST(QueryAndKeyNorms, OverAllHeadsAddUpTheirSquares) {
  Transformer model = samples::llama();
  model.qk_norm = true;
  const Slice split{.micro_batch = 2, .sequence = 1024, .tensor = 4};
  EXPECT_FALSE(
      named(transformer_layer(model, split), "query and key norm").forward_transfer.exists());
  model.qk_norm_of = QkNorm::all_heads;
  const OperationList list = transformer_layer(model, split);
  const Operation& norm = named(list, "query and key norm");
  EXPECT_EQ(norm.forward_transfer.kind, Collective::all_reduce);
  EXPECT_EQ(norm.forward_transfer.size.si(), 2.0 * 2 * 1024 * 4);  // fp32, queries and keys
  EXPECT_EQ(norm.backward_transfer.size.si(), 2.0 * 2 * 1024 * 4);
  EXPECT_FALSE(
      named(transformer_layer(model, kWhole), "query and key norm").forward_transfer.exists());
}

TEST(HeadTransform, IsAProductAnActivationAndANorm) {
  Transformer model = samples::gpt3();
  const std::int64_t h = model.hidden;
  const std::int64_t before = head_parameters(model, 1).replicated;
  const Flops logits = forward_flops(model, 1, 1024, AttentionCount::full).logits;
  model.head_transform = true;
  EXPECT_EQ(head_parameters(model, 1).replicated - before, h * h + h + 2 * h);
  const Flops more = forward_flops(model, 1, 1024, AttentionCount::full).logits - logits;
  EXPECT_DOUBLE_EQ(more.si(), 2.0 * 1024 * static_cast<double>(h * h));
  const OperationList list = output_head(model, kWhole);
  EXPECT_DOUBLE_EQ(named(list, "head transform").forward.flops.si(), 2.0 * more.si());
}

TEST(EncoderEnds, AreThereOnceMore) {
  Transformer model = samples::gpt3();
  const std::int64_t h = model.hidden;
  model.embedding_norm = true;
  model.token_types = 2;
  const std::int64_t once = embedding_parameters(model, 1).replicated;
  EXPECT_EQ(once, (model.position_rows + 2 + 2) * h);
  const std::int64_t head = head_parameters(model, 1).replicated;
  model.encoder_ends = true;
  EXPECT_EQ(embedding_parameters(model, 1).replicated - once, (model.position_rows + 2) * h);
  EXPECT_EQ(head_parameters(model, 1).replicated - head, 2 * h);
  EXPECT_EQ(embedding(model, kWhole).size(), 4U);
  EXPECT_EQ(names(output_head(model, kWhole)).front(), "encoder's final norm");
  model.positions = Positions::relative;
  model.position_rows = 32;
  EXPECT_EQ(embedding_parameters(model, 1).replicated, 2 * (32 * model.heads + 2 * h) + 2 * h);
}

TEST(ActivationParameters, AreOfEveryMlp) {
  Transformer model = samples::llama();
  const std::int64_t plain = layer_parameters(model, model.kinds.front()).replicated;
  model.activation_parameters = 2;
  EXPECT_EQ(layer_parameters(model, model.kinds.front()).replicated - plain, 2);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
