#include "titer/input/known_settings.hpp"

#include <utility>

#include "titer/input/file.hpp"
#include "titer/input/shipped_data.hpp"

namespace titer {

Value known_settings(std::string_view program, std::string_view object) {
  Document document = load_json(data_file(kSettingsData, program));
  Value* const found = document.root.find(object);
  return found == nullptr ? Value() : std::move(*found);
}

}  // namespace titer
