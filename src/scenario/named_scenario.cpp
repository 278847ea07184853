#include "titer/scenario/named_scenario.hpp"

#include <filesystem>

namespace titer {

const Value* scenario_value(Reader& in) {
  const Value* scenario = in.raw("scenario");
  const bool is_scenario = scenario != nullptr && (scenario->kind == Value::Kind::text ||
                                                   scenario->kind == Value::Kind::object);
  if (!is_scenario) {
    in.fail("scenario", "expected a scenario: a name, a file or an object");
    return nullptr;
  }
  return scenario;
}

std::string run_name(const std::string& written, const Document& scenario) {
  const bool is_file = written.find('/') != std::string::npos || written.ends_with(".json");
  return is_file ? scenario.sources.front() : written;
}

Document scenario_document(const Document& study, const Value& written) {
  if (written.kind == Value::Kind::text) {
    const int source = written.origin.source;
    const auto folder =
        source < 0
            ? std::filesystem::path()
            : std::filesystem::path(study.sources[static_cast<std::size_t>(source)]).parent_path();
    return load_data(kRunData, written.text, folder);
  }
  return {.root = written, .sources = study.sources};
}

}  // namespace titer
