#pragma once
// How many devices a run is for, when another cluster takes the place of its own.

#include <cstdint>
#include <optional>
#include <string_view>

#include "titer/input/reader.hpp"

namespace titer {

/// A run may say how many devices it is for by the nodes of its cluster alone. A cluster that
/// replaces this one, and says nothing of its size itself, gets as many nodes as these devices
/// fill, as long as the plan leaves its data degree open: a plan that does not says itself how many
/// there are. REQUIRES that both functions are told of every assignment to one document.
class RunSize {
 public:
  /// Before a value is put at this path.
  void before(const Document& document, std::string_view path);
  /// After that, with the names expanded; `origin` is where the value was given.
  void after(Document& document, std::string_view path, Origin origin);
  /// Adds the problem of devices that do not fill nodes of the cluster in place of the run's.
  void check(const Document& document, Problems& problems) const;

 private:
  /// The run's own cluster, whatever is in its place.
  struct Own {
    std::optional<std::int64_t> nodes;
    std::int64_t per_node = 0;
  };
  /// What the cluster in its place takes over.
  struct Kept {
    std::int64_t devices = 0;
    std::int64_t per_node = 0;  // of the new nodes
    Origin origin;
    bool is_written = false;  // as "nodes" of the document

    [[nodiscard]] bool fills() const { return devices % per_node == 0; }
  };

  void keep(const Document& document, Origin origin);
  void write(Document& document);
  void take_back(Document& document);

  std::optional<Own> own_;  // empty before the first change
  std::optional<Kept> kept_;
};

}  // namespace titer
