#include "titer/model/huggingface/huggingface.hpp"

#include <algorithm>
#include <array>

#include "huggingface_decoder.hpp"
#include "huggingface_families.hpp"
#include "huggingface_towers.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/model/unmodelled.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

namespace hf = huggingface;

/// One that is no row of a table.
struct Architecture {
  std::string_view type;  // "model_type"
  void (*read)(Reader& in, Transformer& model);
};
constexpr std::array kArchitectures = {
    Architecture{"bloom", hf::read_bloom},
    Architecture{"falcon", hf::read_falcon},
    Architecture{"t5", hf::read_t5},
    Architecture{"mt5", hf::read_mt5},
    Architecture{"bart", hf::read_bart},
    Architecture{"llama4_text", hf::read_llama4},
    Architecture{"mllama_text_model", hf::read_mllama},
    Architecture{"whisper", hf::read_whisper},
    Architecture{"deepseek_v2", hf::read_deepseek_v2},
    Architecture{"deepseek_v3", hf::read_deepseek_v3},
    Architecture{"deepseek_v32", hf::read_deepseek_v32},
    Architecture{"deepseek_v4", hf::read_deepseek_v4},
    Architecture{"glm_moe_dsa", hf::read_glm_sparse},
    Architecture{"glm4_moe_lite", hf::read_glm_lite},
    Architecture{"minicpm3", hf::read_minicpm3},
    Architecture{"kimi_k2", hf::read_deepseek_v3},
    Architecture{"kimi_k25", hf::read_deepseek_v3},
    Architecture{"mamba", hf::read_mamba},
    Architecture{"falcon_mamba", hf::read_mamba},
    Architecture{"mamba2", hf::read_mamba2},
    Architecture{"bamba", hf::read_bamba},
    Architecture{"granitemoehybrid", hf::read_granite_hybrid},
    Architecture{"jamba", hf::read_jamba},
    Architecture{"nemotron_h", hf::read_nemotron_h},
    Architecture{"qwen3_next", hf::read_qwen3_next},
    Architecture{"qwen3_5", hf::read_qwen35},
    Architecture{"qwen3_5_moe", hf::read_qwen35_moe},
    Architecture{"minimax", hf::read_minimax},
    Architecture{"minimax_text_01", hf::read_minimax},
    Architecture{"minimax_m1", hf::read_minimax},
    Architecture{"kimi_linear", hf::read_kimi_linear},
    Architecture{"lfm2", hf::read_lfm2},
    Architecture{"lfm2_vl", hf::read_lfm2},
    Architecture{"lfm2_moe", hf::read_lfm2_moe},
    Architecture{"rwkv", hf::read_rwkv4},
    Architecture{"rwkv5", hf::read_rwkv5},
    Architecture{"rwkv6", hf::read_rwkv6},
    Architecture{"rwkv7", hf::read_rwkv7},
    Architecture{"FluxTransformer2DModel", hf::read_flux},
    Architecture{"HunyuanVideoTransformer3DModel", hf::read_hunyuan_video},
    Architecture{"SD3Transformer2DModel", hf::read_sd3},
    Architecture{"PixArtTransformer2DModel", hf::read_pixart},
    Architecture{"WanTransformer3DModel", hf::read_wan},
};

/// Names of types and classes alike: "gemma3_text" and "Gemma3ForCausalLM" are both gemma3.
std::string plain(std::string_view name) {
  for (const std::string_view purpose : {"For", "LMHead", "Model"}) {
    name = name.substr(0, name.find(purpose));
  }
  std::string letters;
  for (const char letter : name) {
    if (letter != '_') {
      const bool is_capital = letter >= 'A' && letter <= 'Z';
      letters += is_capital ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
  }
  const std::size_t text = letters.rfind("text");
  const bool ends_so = text != std::string::npos && text + 4 == letters.size();
  return ends_so ? letters.substr(0, text) : letters;
}

/// How a type is read: by a row or by a function.
struct Known {
  std::string_view type;
  const hf::Decoder* decoder = nullptr;
  void (*read)(Reader& in, Transformer& model) = nullptr;
};

/// All of them, each found by its type or a class of it.
class KnownArchitectures {
 public:
  KnownArchitectures() {
    for (const hf::Decoder& decoder : decoders_.all()) {
      all_.push_back({.type = decoder.type, .decoder = &decoder});
    }
    for (const Architecture& other : kArchitectures) {
      all_.push_back({.type = other.type, .read = other.read});
    }
  }

  /// nullptr where there is none.
  [[nodiscard]] const Known* find(std::string_view name) const {
    const auto found =
        std::ranges::find(all_, plain(name), [](const Known& known) { return plain(known.type); });
    return found == all_.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::vector<std::string> types() const {
    return each_of(all_, [](const Known& known) { return std::string(known.type); });
  }

 private:
  hf::Decoders decoders_;
  std::vector<Known> all_;
};

std::string refusal(std::string_view name, const KnownArchitectures& architectures) {
  const std::string wanted = plain(name);
  for (const Unmodelled& other : unmodelled_architectures()) {
    if (wanted.starts_with(plain(other.type)) && architectures.find(other.type) == nullptr) {
      return refusal_of(other);
    }
  }
  const std::vector<std::string> known = architectures.types();
  return "this architecture is not known; expected one of: " + listed(known) +
         suggestion(name, known);
}

/// What a configuration says that it is: its type, and the classes that it is for.
struct Names {
  std::string_view key;
  std::vector<std::string> all;
};
Names read_names(Reader& in) {
  if (const auto of_diffusers = in.maybe_text("_class_name")) {
    return {.key = "_class_name", .all = {*of_diffusers}};
  }
  const auto type = in.maybe_text("model_type");
  Names names{.key = type ? "model_type" : "architectures", .all = in.texts("architectures")};
  if (type) {
    names.all.insert(names.all.begin(), *type);
  }
  return names;
}

/// The reader for the first of the names that is known; reports a problem where none is. Some
/// classes inside others take other things for what a file leaves out.
const Known* choose_architecture(Reader& in,
                                 const Names& names,
                                 std::string_view outer,
                                 const KnownArchitectures& architectures) {
  for (const std::string& name : names.all) {
    for (const std::string& whole : {std::string(outer) + name, name}) {
      if (const Known* const known = architectures.find(whole)) {
        return known;
      }
    }
  }
  in.fail(names.key,
          names.all.empty() ? "expected a name" : refusal(names.all.front(), architectures));
  return nullptr;
}

std::string base_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::string whole = end == std::string::npos ? "" : path.substr(0, end + 1);
  return whole.substr(whole.rfind('/') + 1);  // npos + 1 is 0
}

void collect_unread(const Reader& in, std::string_view path, ImportedModel& imported) {
  const Value harmless = known_settings("huggingface", "harmless");
  const std::vector<Value>& meaningless = harmless.members.front().second.items;
  for (const std::string& key : in.unknown_keys()) {
    const bool means_nothing = includes(meaningless, key, &Value::text);
    (means_nothing ? imported.meaningless : imported.ignored).push_back(join_path(path, key));
  }
}

/// Null, 0, switched off or empty.
bool tells_nothing(const Value& value) {
  return value.kind == Value::Kind::null ||
         (value.kind == Value::Kind::boolean && !value.boolean) ||
         (value.kind == Value::Kind::number && value.number == 0) ||
         (value.kind == Value::Kind::array && value.items.empty()) ||
         (value.kind == Value::Kind::text && value.text.empty());
}

/// What looks or listens beside the language model, and how its outcome is put among the tokens.
bool is_of_tower(std::string_view key) {
  constexpr std::array<std::string_view, 9> parts = {
      "vision", "audio", "image", "video", "projector", "visual", "speech", "mm_", "talker"};
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return key.find(part) != std::string_view::npos; });
}

/// Widths of all together, of a file whose language model tells its own.
bool stands_inside(const Value& config, std::string_view key) {
  constexpr std::array<std::string_view, 3> sections = {
      "text_config", "llm_config", "language_config"};
  return key.find('.') == std::string_view::npos &&
         std::ranges::any_of(
             sections, [&](std::string_view section) { return config.find(section) != nullptr; });
}

}  // namespace

bool is_huggingface(const Reader& in) {
  return in.has("model_type") || in.has("architectures") || in.has("_class_name");
}

IgnoredKey meaning_of_ignored(const Value& config, std::string_view key) {
  const Value* value = config.at(key);
  if (value != nullptr && tells_nothing(*value)) {
    return IgnoredKey::nothing;
  }
  return is_of_tower(key) || stands_inside(config, key) ? IgnoredKey::of_tower : IgnoredKey::unread;
}

std::vector<std::string> huggingface_architectures() { return KnownArchitectures().types(); }

namespace {

/// Its tower, if that is known; whether there is another that is left out.
bool read_towers(Reader& in, const std::string& type, ImportedModel& imported) {
  auto vision = hf::has_known_tower(type) ? in.maybe_object("vision_config") : std::nullopt;
  if (vision) {
    hf::read_vision(in, *vision, type, imported.model);
    collect_unread(*vision, "vision_config", imported);
  }
  check_attended(in, "vision_config", imported.model);
  return (in.has("vision_config") && !vision) || in.has("audio_config");
}

void read_titles(Reader& in,
                 std::string_view name_otherwise,
                 bool lacks_tower,
                 Transformer& model) {
  model.name = base_name(in.maybe_text("_name_or_path").value_or(""));
  if (model.name.empty()) {
    model.name = name_otherwise;
  }
  model.title = model.name + (lacks_tower ? " without its towers" : "");
}

}  // namespace

ImportedModel read_huggingface(Reader& in, std::string_view name_otherwise) {
  ImportedModel imported;
  const Names outer = read_names(in);
  // Of a model that sees or listens, too.
  constexpr std::array<std::string_view, 3> inner = {
      "text_config", "llm_config", "language_config"};
  const auto* const section =
      std::ranges::find_if(inner, [&](std::string_view key) { return in.has(key); });
  auto text = section == inner.end() ? std::nullopt : in.maybe_object(*section);
  Reader& shape = text ? *text : in;
  const Names names = text && is_huggingface(*text) ? read_names(*text) : outer;
  const std::string type = outer.all.empty() ? "" : plain(outer.all.front());
  const KnownArchitectures architectures;
  const Known* const known = choose_architecture(text && !is_huggingface(*text) ? in : shape,
                                                 names,
                                                 text && !type.empty() ? type + "_" : "",
                                                 architectures);
  if (known == nullptr) {
    return imported;
  }
  Transformer& model = imported.model;
  if (known->decoder != nullptr) {
    hf::read(shape, *known->decoder, model);
  } else {
    known->read(shape, model);
  }
  if (const auto tied = text ? in.maybe_flag("tie_word_embeddings") : std::nullopt) {
    model.tied_embeddings = *tied;
  }
  const bool lacks_tower = read_towers(in, type, imported);
  read_titles(in, name_otherwise.empty() ? known->type : name_otherwise, lacks_tower, model);
  model.source = "config.json of HuggingFace's " + std::string(known->type);
  collect_unread(in, "", imported);
  if (text) {
    collect_unread(*text, *section, imported);
  }
  return imported;
}

}  // namespace titer
