#include "titer/topology/family/torus.hpp"

#include <algorithm>

#include "topology/lists.hpp"

namespace titer {

Torus Torus::read(Reader& in) {
  Torus torus;
  torus.dimensions = read_counts(in, "dimensions", kMostDevicesOfFamily);
  if (torus.dimensions.size() > most_dimensions ||
      !product_within(torus.dimensions, kMostDevicesOfFamily)) {
    in.fail("dimensions",
            "expected at most " + std::to_string(most_dimensions) + " dimensions and " +
                std::to_string(kMostDevicesOfFamily) + " devices");
    torus.dimensions.clear();
  }
  torus.wrap = read_flags(in, "wrap", torus.dimensions.size());
  torus.bandwidth = in.quantity<BytesPerSecond>("bandwidth");
  torus.latency = in.maybe_quantity<Seconds>("latency").value_or(Seconds{});
  return torus;
}

void Torus::read_slice(Reader& in) {
  const std::vector<int> lengths = maybe_counts(in, "slice", kMostDevicesOfFamily);
  if (lengths.empty()) {
    return;
  }
  bool fits = lengths.size() == dimensions.size();
  for (std::size_t i = 0; fits && i < lengths.size(); ++i) {
    fits = lengths[i] <= dimensions[i];
  }
  if (!fits) {
    std::string axes;
    for (const int length : dimensions) {
      axes += (axes.empty() ? "" : " x ") + std::to_string(length);
    }
    in.fail("slice", "expected the lengths of a box of the torus " + axes + ", one for each axis");
    return;
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    wrap[i] = wrap[i] && lengths[i] == dimensions[i];
  }
  dimensions = lengths;
}

int Torus::devices() const {
  int product = 1;
  for (const int length : dimensions) {
    product *= length;
  }
  return product;
}

int Torus::links_across(std::size_t i) const {
  if (dimensions[i] == 1) {
    return 0;
  }
  return wrap[i] && dimensions[i] > 2 ? 2 : 1;
}

Topology Torus::build() const {
  Topology topology{.name = std::string(name), .devices = devices(), .switches = 0, .wires = {}};
  int stride = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const int length = dimensions[i];
    const int last = links_across(i) == 2 ? length : length - 1;  // links of one line
    for (int device = 0; device < topology.devices; ++device) {
      const int place = device / stride % length;
      if (place < last) {
        const int next = device + ((place + 1) % length - place) * stride;
        topology.wires.push_back(
            {.a = device, .b = next, .count = 1, .bandwidth = bandwidth, .latency = latency});
      }
    }
    stride *= length;
  }
  return topology;
}

}  // namespace titer
