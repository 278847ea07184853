#include "titer/hardware/figure_sources.hpp"

namespace titer {

std::set<std::string> named_sources(const Value& file) {
  std::set<std::string> named;
  each_source(file, [&](const std::string& source) { named.insert(source); });
  return named;
}

void drop_unnamed_sources(Value& file, const std::set<std::string>& among) {
  Value* const sources = file.find("sources");
  if (sources == nullptr) {
    return;
  }
  const std::set<std::string> named = named_sources(file);
  for (const std::string& source : among) {
    if (!named.contains(source)) {
      sources->erase(source);
    }
  }
}

}  // namespace titer
