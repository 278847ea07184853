#include "titer/topology/family/torus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "topology/lists.hpp"

namespace titer {
namespace {

/// Ascending factors of a number, as many as there are axes, whose largest is least, then the next
/// one; empty where all have one above `longest`.
std::vector<int> compact_factors(int number, std::size_t axes, int longest) {
  if (axes == 1) {
    return number <= longest ? std::vector{number} : std::vector<int>{};
  }
  for (int last = 1; last <= std::min(number, longest); ++last) {
    if (number % last == 0) {
      std::vector<int> factors = compact_factors(number / last, axes - 1, last);
      if (!factors.empty()) {
        factors.push_back(last);
        return factors;
      }
    }
  }
  return {};
}

void read_dimensions(const Field<Torus>& own, Reader& in, Torus& torus) {
  torus.dimensions = read_counts(in, own.key, kMostDevicesOfFamily);
  if (torus.dimensions.size() > Torus::most_dimensions ||
      !product_within(torus.dimensions, kMostDevicesOfFamily)) {
    in.fail(own.key,
            "expected at most " + std::to_string(Torus::most_dimensions) + " dimensions and " +
                std::to_string(kMostDevicesOfFamily) + " devices");
    torus.dimensions.clear();
  }
}

using Cubes = Torus::Cubes;
constexpr Range kLengths = {1, static_cast<double>(kMostDevicesOfFamily)};

/// Of cubes alone, and no shorter than one.
void read_longest(const Field<Cubes>& own, Reader& in, Cubes& cubes) {
  if (cubes.side > 0) {
    cubes.longest = static_cast<int>(
        in.integer(own.key, cubes.side, static_cast<std::int64_t>(own.range.most)));
  }
}
void read_most(const Field<Cubes>& own, Reader& in, Cubes& cubes) {
  if (cubes.side > 0) {
    const auto most = fields::read_integer(own.key, own.range, false, in);
    cubes.most = static_cast<int>(most.value_or(cubes.most));
  }
}

constexpr std::array kCubesFields = {
    fields::integer<&Cubes::side>(
        "cubes", kLengths, "the side of cubes that switches join to closed tori")
        .or_else("none"),
    fields::integer<&Cubes::longest>("longest", kLengths, "axis of joined cubes")
        .or_else("required with `cubes`")
        .read_by(read_longest),
    fields::integer<&Cubes::most>("most", kLengths, "chips of joined cubes")
        .or_else("all of it")
        .read_by(read_most)};

Value slices_schema() {
  Value slices = schema::object();
  schema::add_key(slices,
                  {.key = "shapes",
                   .about = "the lengths of boxes of it",
                   .written = schema::list_of(schema::list_of(schema::integer(kLengths)))});
  add_keys<Cubes>(kCubesFields, slices);
  return slices;
}

}  // namespace

std::span<const Field<Torus>> Torus::fields() {
  static constexpr std::array table = {
      count_list<Torus>("dimensions", kLengths.most, read_dimensions, "devices along each axis")
          .needed(),
      titer::fields::of_schema<Torus, flags_schema>(
          "wrap",
          [](const Field<Torus>& own, Reader& in, Torus& torus) {
            torus.wrap = read_flags(in, own.key, torus.dimensions.size());
          },
          "whether axes are closed to rings, all or each")
          .or_else("`true`"),
      titer::fields::quantity<&Torus::bandwidth>("bandwidth", "of a link, one direction").needed(),
      titer::fields::quantity<&Torus::latency>("latency", "of a link"),
      titer::fields::of_schema<Torus, slices_schema>(
          "slices",
          [](const Field<Torus>& own, Reader& in, Torus& torus) {
            if (auto written = in.maybe_object(own.key)) {
              torus.read_slices(std::move(*written));
            }
          },
          "what parts of it are handed out")};
  return table;
}

/// {"shapes": [[2, 2], [2, 4]]} are boxes of it; {"cubes": 4, "longest": 64, "most": 6144} says
/// that switches join cubes of that side to closed tori of such lengths and so many chips.
void Torus::read_slices(Reader in) {
  if (const Value* shapes = in.raw("shapes")) {
    const bool is_list = shapes->kind == Value::Kind::array;
    for (const Value& shape : is_list ? shapes->items : std::vector<Value>{*shapes}) {
      add_shape(shape, in);
    }
  }
  Cubes made{.side = 0, .longest = 0, .most = devices()};
  read_keys<Cubes>(kCubesFields, in, made);
  if (made.side > 0) {
    cubes = made;
    add_closed();
  }
  in.finish();
  std::ranges::stable_sort(slices, {}, &Torus::devices);
}

void Torus::add_shape(const Value& shape, Reader& in) {
  std::vector<int> lengths;
  for (const Value& length : shape.items) {
    const bool is_count = length.is_integer && length.integer <= kMostDevicesOfFamily;
    lengths.push_back(is_count ? static_cast<int>(length.integer) : 0);
  }
  const bool is_shape = std::ranges::all_of(lengths, [](int i) { return i > 0; });
  if (lengths.empty() || !is_shape) {
    in.fail("shapes", "expected lists of the lengths of boxes, not " + to_json(shape, 0));
  } else if (is_box(lengths)) {  // others are of another pod than the one it was changed to
    slices.push_back(box(std::move(lengths)));
  }
}

void Torus::add_closed() {
  int cube = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    cube *= cubes->side;
  }
  for (int count = 1; count * cube <= std::min(cubes->most, devices()); ++count) {
    std::vector<int> lengths =
        compact_factors(count, dimensions.size(), cubes->longest / cubes->side);
    for (int& length : lengths) {
      length *= cubes->side;
    }
    if (!lengths.empty()) {
      slices.push_back(joined_cubes(std::move(lengths)));
    }
  }
}

bool Torus::is_box(const std::vector<int>& lengths) const {
  return std::equal(lengths.begin(),
                    lengths.end(),
                    dimensions.begin(),
                    dimensions.end(),
                    [](int part, int whole) { return part >= 1 && part <= whole; });
}

bool Torus::is_of_cubes(const std::vector<int>& lengths) const {
  const bool is_whole =
      cubes && lengths.size() == dimensions.size() && std::ranges::all_of(lengths, [&](int length) {
        return length % cubes->side == 0 && length <= cubes->longest;
      });
  return is_whole && product_within(lengths, std::min(cubes->most, devices()));
}

Torus Torus::box(std::vector<int> lengths) const {
  Torus part = joined_cubes(std::move(lengths));
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    part.wrap[i] = wrap[i] && part.dimensions[i] == dimensions[i];
  }
  return part;
}

Torus Torus::joined_cubes(std::vector<int> lengths) const {
  return {
      .dimensions = std::move(lengths), .wrap = wrap, .bandwidth = bandwidth, .latency = latency};
}

const Torus* Torus::of(std::int64_t chips) const {
  if (chips == devices()) {
    return this;
  }
  const auto found = std::ranges::lower_bound(slices, chips, {}, &Torus::devices);
  return found != slices.end() && found->devices() == chips ? &*found : nullptr;
}

void Torus::read_slice(Reader& in) {
  const std::vector<int> lengths = maybe_counts(in, "slice", kMostDevicesOfFamily);
  if (lengths.empty()) {
    return;
  }
  if (is_of_cubes(lengths)) {
    *this = joined_cubes(lengths);
  } else if (is_box(lengths)) {
    *this = box(lengths);
  } else {
    in.fail("slice",
            fmt::format("expected the lengths of a box of the torus {}, one for each axis{}",
                        fmt::join(dimensions, " x "),
                        cubes ? fmt::format(", or of cubes of {} joined to {} chips at most, none "
                                            "longer than {}",
                                            cubes->side,
                                            std::min(cubes->most, devices()),
                                            cubes->longest)
                              : ""));
  }
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

Torus Torus::in_small(std::string& note) const {
  Torus drawn = *this;
  const auto long_ones = std::ranges::count_if(dimensions, [](int length) { return length > 1; });
  const int most = long_ones <= 1 ? 32 : long_ones == 2 ? 12 : long_ones == 3 ? 4 : 2;
  for (int& length : drawn.dimensions) {
    length = std::min(length, most);
  }
  note = fmt::format("drawn: a corner of {} out of {}",
                     fmt::join(drawn.dimensions, " x "),
                     fmt::join(dimensions, " x "));
  return drawn;
}

std::optional<Bisection> Torus::bisection() const {
  std::optional<double> fewest;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const double links = 1.0 * links_across(i) * devices() / dimensions[i];
    if (links > 0.0) {
      fewest = std::min(fewest.value_or(links), links);
    }
  }
  return fewest ? std::optional(Bisection{*fewest * bandwidth,
                                          "links cut across the dimension where they are fewest"})
                : std::nullopt;
}

std::optional<int> Torus::diameter() const {
  int links = 0;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const int length = dimensions[i];
    links += links_across(i) == 2 ? length / 2 : length - 1;
  }
  return links;
}

}  // namespace titer
