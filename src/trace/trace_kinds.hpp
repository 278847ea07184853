#pragma once
// The kinds of a trace while it is read: each name is classified once.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "titer/trace/trace.hpp"

namespace titer {

/// What a span may say of itself.
struct SpanFacts {
  std::string name;
  std::string collective;
  std::string hlo_category;
  std::string data_type;
  std::optional<double> sent;      // elements
  std::optional<double> received;  // elements
  std::optional<int> ranks;

  void clear();
};

class TraceKinds {
 public:
  /// The number of the kind that the span is of.
  [[nodiscard]] std::uint32_t of(const SpanFacts& facts);
  [[nodiscard]] std::vector<TraceKind> take() { return std::move(kinds_); }
  [[nodiscard]] const TraceKind& operator[](std::uint32_t kind) const { return kinds_[kind]; }

 private:
  [[nodiscard]] std::uint32_t add(TraceKind kind);

  std::vector<TraceKind> kinds_;
  std::unordered_map<std::string, std::uint32_t> numbers_;   // only looked up
  std::unordered_map<std::uint32_t, std::uint32_t> others_;  // of a category, when there are many
  std::string key_;
};

}  // namespace titer
