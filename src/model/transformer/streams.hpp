#pragma once
// Hidden states that layers hand on side by side. Each branch reads a sum of them, and what it
// returns is added to each of as many sums of them, all by weights that a product makes of a
// token's states.  [Zhu 2024, hyper-connections; Xie 2026; DeepSeek-V4 2026, section 2.2]

#include "model/layer_builder.hpp"

namespace titer {

[[nodiscard]] inline bool has_streams(const Transformer& model) { return model.streams > 1; }

/// Of a branch's product; of the one that makes one of them all.
[[nodiscard]] std::int64_t stream_parameters(const Transformer& model);
[[nodiscard]] std::int64_t last_stream_parameters(const Transformer& model);
/// Multiply-adds of these for a token.
[[nodiscard]] double stream_products(const Transformer& model);
[[nodiscard]] double last_stream_products(const Transformer& model);

/// The embedding as each of them.
void begin_streams(LayerBuilder& layer);
/// What a branch reads.
void read_streams(LayerBuilder& layer);
/// In the place of a residual addition.
void add_to_streams(LayerBuilder& layer, std::string_view name);
/// One of all.
void end_streams(LayerBuilder& layer);

}  // namespace titer
