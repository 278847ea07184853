#pragma once
// What an InfraGraph's slices of names stand for, one by one.

#include "titer/input/document.hpp"
#include "titer/topology/import/fabric_files.hpp"

namespace titer {

struct InfraVertex {
  std::string kind;     // "xpu", "switch", "port", …
  std::string host;     // the instance that it is in: "server.0"
  bool leaves = false;  // has an edge to another instance
};

struct InfraEdge {
  int a = 0;
  int b = 0;
  std::string link;
  std::optional<BytesPerSecond> bandwidth{};
  Seconds latency{};
};

struct InfraVertices {
  std::vector<InfraVertex> vertices;
  std::vector<InfraEdge> edges;  // no pair twice
};

[[nodiscard]] InfraVertices infra_vertices(const Document& document, const InfraChoices& choices);

}  // namespace titer
