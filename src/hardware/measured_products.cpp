#include "titer/hardware/measured_products.hpp"

// Geometry includes a header that Boost itself deprecates.
#define BOOST_ALLOW_DEPRECATED_HEADERS
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/point.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

namespace geometry = boost::geometry;

using Point = geometry::model::point<double, 3, geometry::cs::cartesian>;  // ln of the extents
using Entry = std::pair<Point, double>;                                    // with ln of the ratio

constexpr unsigned kNearest = 4;
constexpr double kSoftening = 0.1;  // of a neighbour's weight: there is noise in each
constexpr double kReach = 3.0;      // e times as far, the figures alone count

Point place(double rows, double columns, double inner) {
  return {std::log(rows), std::log(columns), std::log(inner)};
}

}  // namespace

struct MeasuredProducts::Index {
  geometry::index::rtree<Entry, geometry::index::quadratic<16>> entries;
};

MeasuredProducts::MeasuredProducts(const std::vector<MeasuredProduct>& products) {
  ensure(!products.empty(), "products were measured");
  std::map<std::tuple<double, double, double>, double> last;
  for (const MeasuredProduct& one : products) {
    last[{one.rows, one.columns, one.inner}] = one.ratio;
  }
  std::vector<Entry> entries;
  entries.reserve(last.size());
  for (const auto& [extents, ratio] : last) {
    entries.emplace_back(std::apply(place, extents), std::log(ratio));
  }
  index_ = std::make_unique<const Index>(Index{decltype(Index::entries)(entries)});
}

MeasuredProducts::~MeasuredProducts() = default;

MeasuredProducts::Found MeasuredProducts::find(const KernelShape& shape) const {
  const Point asked = place(shape.rows, shape.columns, shape.inner);
  std::vector<Entry> nearest;
  nearest.reserve(kNearest);
  index_->entries.query(geometry::index::nearest(asked, kNearest), std::back_inserter(nearest));
  double least = std::numeric_limits<double>::infinity();
  double weights = 0;
  double sum = 0;
  for (const auto& [point, ratio] : nearest) {
    const double distance = geometry::distance(asked, point);
    if (distance < 1e-6) {
      return {.ratio = std::exp(ratio), .distance = 0};
    }
    least = std::min(least, distance);
    weights += 1.0 / (kSoftening + distance);
    sum += ratio / (kSoftening + distance);
  }
  return {.ratio = std::exp(std::exp(-least / kReach) * sum / weights), .distance = least};
}

}  // namespace titer
