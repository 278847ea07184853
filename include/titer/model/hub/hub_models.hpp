#pragma once
// Models of the HuggingFace Hub by their names: configs/hub.json.

#include <optional>
#include <string>
#include <string_view>

#include "titer/input/document.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

/// The file. Throws InputError where it is not as it has to be.
class Hub {
 public:
  Hub();

  /// Its member of that name, or one of a part of it.
  [[nodiscard]] const Value& list(std::string_view key, const Value* of = nullptr) const;
  [[nodiscard]] const Value& object(std::string_view key, const Value* of = nullptr) const;
  [[noreturn]] void refuse(const Value& value, const std::string& why) const;

 private:
  [[nodiscard]] const Value& member(std::string_view key,
                                    const Value& of,
                                    Value::Kind kind,
                                    std::string_view expected) const;

  Document document_;
};

/// A model of the Hub whose shape is known here.
struct HubModel {
  std::string shipped{};  // the shipped model that it is; "" for one that is told by
  Value config;           // the keys of its config.json
  bool sees = false;      // with more than what is here
  bool tuned = false;     // another name, which begins as that of a model here
};
/// By its name there ("meta-llama/Llama-3.1-8B-Instruct"), or as torchtune and MaxText have it
/// ("llama3_1_8b"); what it was tuned for does not matter. None: its shape is not known.
[[nodiscard]] std::optional<HubModel> hub_model(std::string_view name);
/// The keys of a config.json by another list of configs/hub.json: "types" of classes with their own
/// widths, or "easylm" of EasyLM's models without "llama_".
/// [EasyLM/models/llama/llama_model.py, LLAMA_STANDARD_CONFIGS and get_standard_llama_config]
[[nodiscard]] std::optional<Value> config_in_hub(std::string_view list, std::string_view name);

/// The last part of a name, in small letters.
[[nodiscard]] std::string lower_name(std::string_view name);

/// The model of that name there. REQUIRES one that is not shipped.
[[nodiscard]] Transformer transformer_of(const HubModel& known, std::string_view name);
/// As a file of it would hold it, with a title that says so where what it sees with is left out.
[[nodiscard]] Value hub_model_document(const HubModel& known, std::string_view name);

}  // namespace titer
