// Rows of token tables by the names of tokenizers and models: configs/hub.json.

#include "import/import_parts.hpp"
#include "titer/model/hub/hub_models.hpp"

namespace titer {

std::optional<KnownTokenizer> known_tokenizer(std::string_view names) {
  const Hub hub;
  for (const auto& [part, rows] : hub.object("tokenizers").members) {
    if (names.find(part) != names.npos) {
      const Value* const others = hub.object("other_rows").find(part);
      return KnownTokenizer{part, rows.integer, others == nullptr ? "" : others->text};
    }
  }
  return std::nullopt;
}

}  // namespace titer
