#include "trace_kinds.hpp"

#include <array>

namespace titer {
namespace {

constexpr std::size_t kLongestName = 200;  // kept of a name: some are kilobytes of templates

/// Bytes of an element by PyTorch's names of types.
std::optional<double> size_of(std::string_view type) {
  struct Width {
    std::string_view name;
    double bytes;
  };
  constexpr std::array widths = std::to_array<Width>({{"Float8", 1},
                                                      {"Float4", 0.5},
                                                      {"BFloat16", 2},
                                                      {"Float", 4},
                                                      {"Double", 8},
                                                      {"Half", 2},
                                                      {"Long", 8},
                                                      {"Int", 4},
                                                      {"UInt8", 1},
                                                      {"Short", 2},
                                                      {"Char", 1},
                                                      {"Byte", 1},
                                                      {"Bool", 1}});
  for (const Width& width : widths) {
    if (type.find(width.name) != type.npos) {
      return width.bytes;
    }
  }
  return std::nullopt;
}

/// The full result: of what is gathered all that is received, else what a rank puts in.
std::optional<Bytes> bytes_of(const SpanFacts& facts, TraceCategory category) {
  const std::optional<double> width = size_of(facts.data_type);
  const bool gathers = category == TraceCategory::all_gather;
  const std::optional<double>& first = gathers ? facts.received : facts.sent;
  const std::optional<double>& second = gathers ? facts.sent : facts.received;
  const std::optional<double> elements = first ? first : second;
  if (!width || !elements) {
    return std::nullopt;
  }
  return Bytes::from_si(*width * *elements);
}

}  // namespace

void SpanFacts::clear() {
  name.clear();
  collective.clear();
  hlo_category.clear();
  data_type.clear();
  sent.reset();
  received.reset();
  ranks.reset();
}

std::uint32_t TraceKinds::add(TraceKind kind) {
  kinds_.push_back(std::move(kind));
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

std::uint32_t TraceKinds::of(const SpanFacts& facts) {
  key_.assign(facts.name);
  if (!facts.collective.empty() || !facts.hlo_category.empty()) {
    for (const std::string* part : {&facts.collective, &facts.hlo_category, &facts.data_type}) {
      key_.append("\n").append(*part);
    }
    key_.append("\n").append(std::to_string(facts.sent.value_or(0)));
    key_.append("\n").append(std::to_string(facts.received.value_or(0)));
    key_.append("\n").append(std::to_string(facts.ranks.value_or(0)));
  }
  if (const auto known = numbers_.find(key_); known != numbers_.end()) {
    return known->second;
  }
  const TraceCategory category = category_of(
      {.name = facts.name, .collective = facts.collective, .hlo_category = facts.hlo_category});
  if (numbers_.size() >= kMostTraceKinds) {
    const auto [other, is_new] = others_.try_emplace(static_cast<std::uint32_t>(category), 0U);
    if (is_new) {
      other->second = add({.name = "others", .category = category});
    }
    return other->second;
  }
  const bool moves = class_of(category) == TraceClass::communication;
  return numbers_[key_] = add({.name = facts.name.substr(0, kLongestName),
                               .category = category,
                               .ranks = moves ? facts.ranks : std::nullopt,
                               .bytes = moves ? bytes_of(facts, category) : std::nullopt});
}

}  // namespace titer
