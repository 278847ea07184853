// Parameter counts of encoders, with decoders behind them or without, to the parameter: those of
// the published weights, or added up tensor by tensor.
#include "model/published_counts.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kEncoders = {
    // With the product before the output matrix, tied but for its bias; without the pooler.
    // [Devlin 2019]
    Published{"BERT base",
              R"({"model_type": "bert", "num_hidden_layers": 12, "hidden_size": 768,
                  "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522,
                  "max_position_embeddings": 512, "type_vocab_size": 2})",
              109'514'298},
    Published{"BERT large",
              R"({"model_type": "bert", "num_hidden_layers": 24, "hidden_size": 1024,
                  "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 30522,
                  "max_position_embeddings": 512, "type_vocab_size": 2})",
              335'174'458},
    Published{"RoBERTa base",
              R"({"model_type": "roberta", "num_hidden_layers": 12, "hidden_size": 768,
                  "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 50265,
                  "max_position_embeddings": 514, "type_vocab_size": 1})",
              124'697'433},
    Published{"RoBERTa large",
              R"({"model_type": "roberta", "num_hidden_layers": 24, "hidden_size": 1024,
                  "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 50265,
                  "max_position_embeddings": 514, "type_vocab_size": 1})",
              355'412'057},
    // Two tables of 32 distances, two final norms. [Raffel 2020; v1.1: gates, an output matrix of
    // its own]
    Published{"T5 small",
              R"({"model_type": "t5", "num_layers": 6, "d_model": 512, "num_heads": 8,
                  "d_kv": 64, "d_ff": 2048, "vocab_size": 32128})",
              60'506'624},
    Published{"T5 11B",
              R"({"model_type": "t5", "num_layers": 24, "d_model": 1024, "num_heads": 128,
                  "d_kv": 128, "d_ff": 65536, "vocab_size": 32128})",
              11'307'321'344},
    Published{"T5 v1.1 XXL",
              R"({"model_type": "t5", "num_layers": 24, "num_decoder_layers": 24,
                  "d_model": 4096, "num_heads": 64, "d_kv": 64, "d_ff": 10240,
                  "vocab_size": 32128, "feed_forward_proj": "gated-gelu",
                  "tie_word_embeddings": false})",
              11'135'332'352},
    Published{"mT5 small",
              R"({"model_type": "mt5", "num_layers": 8, "num_decoder_layers": 8,
                  "d_model": 512, "num_heads": 6, "d_kv": 64, "d_ff": 1024,
                  "vocab_size": 250112})",
              300'176'768},
    // Positions and a norm behind the embedding in both stacks. [Lewis 2020]
    Published{"BART large",
              R"({"model_type": "bart", "encoder_layers": 12, "decoder_layers": 12,
                  "d_model": 1024, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
                  "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "vocab_size": 50265,
                  "max_position_embeddings": 1024})",
              406'291'456},
};

TEST(HuggingFace, CountsEncodersToTheParameter) { expect_counts(kEncoders); }

}  // namespace TITER_TEST_FILE
}  // namespace titer
