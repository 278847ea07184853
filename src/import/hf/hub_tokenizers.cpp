// Rows of token tables by the names of tokenizers and models: configs/hub.json.

#include "import/import_parts.hpp"
#include "titer/input/file.hpp"
#include "titer/input/shipped_data.hpp"

namespace titer {

std::optional<KnownTokenizer> known_tokenizer(std::string_view names) {
  const Value hub = load_json(data_root() / "configs/hub.json").root;
  for (const auto& [part, rows] : hub.find("tokenizers")->members) {
    if (names.find(part) != names.npos) {
      const Value* const others = hub.find("other_rows")->find(part);
      return KnownTokenizer{part, rows.integer, others == nullptr ? "" : others->text};
    }
  }
  return std::nullopt;
}

}  // namespace titer
