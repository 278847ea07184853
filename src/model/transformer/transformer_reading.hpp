#pragma once
// What the readers of transformers have in common, whatever their files call things, and what those
// who write them in this program's own keys have.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/model_files.hpp"
#include "titer/input/fields.hpp"
#include "titer/model/limits.hpp"
#include "titer/model/transformer/layer_runs.hpp"

namespace titer {

/// Of a short convolution.
inline constexpr std::int64_t kMostTaps = 64;

/// The keys of a file for what is asked for; "" for what it cannot tell.
struct ShapeKeys {
  std::string_view layers;
  std::string_view hidden;
  std::string_view heads;
  std::string_view kv_heads;
  std::string_view head_dim;
};
struct LatentKeys {
  std::string_view q_rank;
  std::string_view kv_rank;
  std::string_view nope_dim;
  std::string_view rope_dim;
  std::string_view value_dim;
  std::int64_t value_otherwise = 0;  // 0: has to be told
};
struct SharedHeadKeys {
  std::string_view q_rank;
  std::string_view rope_dim;
  std::string_view output_groups;
  std::string_view output_rank;
  std::int64_t rope_otherwise = 0;  // 0: has to be told
};
struct ExpertKeys {
  std::string_view count;
  std::string_view per_token;
  std::string_view ffn;
};

/// Whether something else than a positive integer is written there, which has been complained
/// about: what stands in for it contradicts nothing.
[[nodiscard]] bool is_wrong(Reader& in, std::string_view key);
/// Layers, hidden size and, where the file can tell them, heads.
void read_widths(Reader& in, const ShapeKeys& keys, Transformer& model);
/// What a file's kind takes where these are not told; 0: as many as heads, and their share of the
/// hidden size.
struct GroupedHeads {
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
};
/// Key-value heads and the width of a head, after the widths.
void read_grouped_heads(Reader& in,
                        const ShapeKeys& keys,
                        const GroupedHeads& otherwise,
                        Transformer& model);
/// After the widths, instead of grouped heads.
void read_latent(Reader& in, const LatentKeys& keys, Transformer& model);
/// Likewise; heads of so many columns.
void read_shared_head(Reader& in,
                      const SharedHeadKeys& keys,
                      std::int64_t head_dim,
                      Transformer& model);
/// Count, top-k and width.
[[nodiscard]] Experts read_experts(Reader& in, const ExpertKeys& keys);
/// Refuses more than a layer can have.
void check_experts(Reader& in, const ExpertKeys& keys, const Experts& experts);
/// Refuses a way of choosing experts that these do not admit.
void check_routing(Reader& in, std::string_view key, const Experts& experts);
/// Refuses heads that cannot share keys, or too wide a mixer.
void check_mixer(Reader& in, std::string_view key, const Mixer& mixer);
/// Refuses what an indexer cannot do without, or too wide a one.
void check_indexer(Reader& in, std::string_view key, const Transformer& model);

/// Of this program's own keys: widths, norms, biases and positions; which layer is of which kind,
/// when all that they may have has been read.
void read_stack(Reader& in, Transformer& model);
void read_layers(Reader& in, Transformer& model);
/// Refuses layers that attend to a tower's results without one, and such results that none reads.
void check_attended(Reader& in, std::string_view tower_key, const Transformer& model);

/// Every kind costs as much as a whole model of layers that are all alike.
inline constexpr std::size_t kMostKindsOfLayers = 64;
[[nodiscard]] bool has_few_kinds(const std::vector<KindRun>& runs);

/// What mixes tokens in place of attention.
[[nodiscard]] std::span<const Field<Mixer>> mixer_fields();
void read_mixer(const Field<Transformer>& own, Reader& in, Transformer& model);

/// What is special about layers, in keys of an object.
[[nodiscard]] std::span<const Field<LayerKind>> kind_fields();
[[nodiscard]] LayerKind read_kind(Reader& in);
/// Which layer is of which kind; nothing where all are alike.
[[nodiscard]] std::vector<KindRun> read_pattern(Reader& in, std::string_view key);
[[nodiscard]] Value write_pattern(const Transformer& model);

/// The keys of a file, in their order behind its names: of a stack of layers, then of a model, or
/// of the encoder of a tower.
[[nodiscard]] std::span<const Field<Transformer>> stack_fields();
[[nodiscard]] std::span<const Field<Transformer>> model_fields();
[[nodiscard]] std::span<const Field<Transformer>> encoder_fields();
[[nodiscard]] Value tower_document(const Tower& tower);
[[nodiscard]] Value tower_schema();
[[nodiscard]] Value denoiser_document(const Denoiser& denoiser);
[[nodiscard]] Value denoiser_schema();

[[nodiscard]] Value list_value(std::span<const std::int64_t> numbers);

}  // namespace titer
