#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "titer/report/network/topology_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/svg.hpp"
#include "topology_drawing.hpp"

namespace titer {
namespace {

constexpr double kTopologyMargin = 48.0;
constexpr double kDeviceRadius = 14.0;
constexpr std::size_t kMostLabelled = 24;  // wires; more numbers would hide each other
constexpr std::array<std::string_view, 6> kLinkColours = {
    "#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b83280", "#718096"};

/// How much of the busiest link's time others are busy, and their colour, from light to dark.
struct Heat {
  double from;
  std::string_view colour;
};
constexpr std::array<Heat, 5> kHeat = {
    {{0.75, "#a01c2c"}, {0.5, "#e2603c"}, {0.25, "#f0a04b"}, {1e-9, "#e3c878"}, {0, "#cbd5e0"}}};

/// Wires of one bandwidth and duplex share a colour; the fastest come first.
struct WireClass {
  BytesPerSecond bandwidth;
  Duplex duplex = Duplex::full;
  auto operator<=>(const WireClass&) const = default;
};

class TopologyPicture {
 public:
  TopologyPicture(const TopologyView& view, Drawable drawing, std::span<const Seconds> busy)
      : view_(view), drawing_(std::move(drawing)), layout_(lay_out(drawing_)) {
    if (drawing_.note.empty() && busy.size() == drawing_.graph.wires.size()) {
      busy_ = busy;
    }
    for (const Seconds time : busy_) {
      busiest_ = std::max(busiest_, time);
    }
    move_into_view();
    for (const Wire& wire : drawing_.graph.wires) {
      colours_.try_emplace({wire.bandwidth, wire.duplex}, 0);
    }
    std::size_t next = colours_.size();
    for (auto& [wire_class, colour] : colours_) {
      colour = --next;
    }
  }

  std::string text() {
    add_heading();
    add_bands();
    add_wires();
    for (const Stub& stub : layout_.stubs) {
      add_line(stub.from, stub.to, drawing_.graph.wires.front(), "2 3");
    }
    for (int vertex = 0; vertex < drawing_.graph.vertices(); ++vertex) {
      add_vertex(vertex);
    }
    add_legend();
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               width_,
               height_) +
           body_ + "</svg>\n";
  }

 private:
  [[nodiscard]] Point place(int vertex) const {
    return layout_.places[static_cast<std::size_t>(vertex)];
  }

  /// Shifts all places so that the picture begins below its heading, and measures it.
  void move_into_view() {
    const Frame frame = frame_of(layout_, drawing_.graph);
    const Point size = {frame.high.x - frame.low.x, frame.high.y - frame.low.y};
    const double heading = drawing_.note.empty() ? 34.0 : 54.0;
    const double letters = 10.4 * static_cast<double>(heading_text().size());
    const double notes = 6.6 * static_cast<double>(drawing_.note.size());
    width_ = std::max({size.x + 2 * kTopologyMargin, letters + 40.0, notes + 40.0, 320.0});
    move(layout_, {(width_ - size.x) / 2.0 - frame.low.x, heading + kTopologyMargin - frame.low.y});
    height_ = heading + size.y + 2 * kTopologyMargin;
  }

  [[nodiscard]] std::string heading_text() const {
    const NamedTopology& named = view_.named;
    return named.title.empty() ? named.name : named.title;
  }
  void add_heading() {
    add_text({20.0, 26.0}, heading_text(), "font-size=\"16\" font-weight=\"bold\"");
    if (!drawing_.note.empty()) {
      add_text({20.0, 46.0}, drawing_.note, "font-size=\"12\" fill=\"#4a5568\"");
    }
  }

  [[nodiscard]] std::string_view colour_of(const Wire& wire) const {
    if (const auto index = static_cast<std::size_t>(&wire - drawing_.graph.wires.data());
        index < busy_.size()) {
      const double share = busiest_ > Seconds{} ? busy_[index] / busiest_ : 0;
      return std::find_if(kHeat.begin(),
                          kHeat.end() - 1,
                          [&](const Heat& heat) { return share >= heat.from; })
          ->colour;
    }
    const std::size_t colour = colours_.at({wire.bandwidth, wire.duplex});
    return kLinkColours[std::min(colour, kLinkColours.size() - 1)];
  }

  [[nodiscard]] std::string style(const Wire& wire, std::string_view dashes) const {
    const double thick = std::min(1.1 + 0.9 * std::log2(wire.count), 5.0);
    std::string text = fmt::format("stroke=\"{}\" stroke-width=\"{:.1f}\" fill=\"none\"",
                                   colour_of(wire),
                                   busy_.empty() ? thick : std::max(thick, 2.2));
    if (wire.duplex == Duplex::half) {
      dashes = "6 4";
    }
    return dashes.empty() ? text : text + fmt::format(" stroke-dasharray=\"{}\"", dashes);
  }

  void add_bands() {
    for (const GroupBand& band : layout_.bands) {
      body_ += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}A{2:.1f} {2:.1f} 0 0 1 {3:.1f} {4:.1f}\" fill=\"none\" "
          "stroke=\"#edf2f7\" stroke-width=\"{5}\"/>\n",
          band.from.x,
          band.from.y,
          band.radius,
          band.to.x,
          band.to.y,
          band.width);
      add_text({band.label.x, band.label.y + 4.0},
               band.name,
               "font-size=\"12\" font-weight=\"bold\" text-anchor=\"middle\" fill=\"#4a5568\"");
    }
  }

  void add_line(Point a, Point b, const Wire& wire, std::string_view dashes) {
    body_ += fmt::format(
        "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", a.x, a.y, b.x, b.y, style(wire, dashes));
  }

  void add_wires() {
    std::vector<std::pair<Point, int>> counts;
    for (std::size_t i = 0; i < drawing_.graph.wires.size(); ++i) {
      if (!layout_.is_drawn.empty() && !layout_.is_drawn[i]) {
        continue;
      }
      const Wire& wire = drawing_.graph.wires[i];
      const Point middle = add_wire(wire);
      if (wire.count > 1) {
        counts.emplace_back(middle, wire.count);
      }
    }
    if (counts.size() > kMostLabelled) {
      const auto most =
          std::ranges::max_element(counts, [](auto& a, auto& b) { return a.second < b.second; });
      remark_ = fmt::format("thick lines are parallel links, up to {}", most->second);
      return;
    }
    for (const auto& [middle, count] : counts) {
      add_count(middle, count);
    }
  }

  /// Returns where the number of links can stand.
  Point add_wire(const Wire& wire) {
    const Point a = place(wire.a);
    const Point b = place(wire.b);
    const bool is_level = std::abs(a.y - b.y) < 1.0;
    const auto index = static_cast<std::size_t>(&wire - drawing_.graph.wires.data());
    if (index < layout_.bends.size() && layout_.bends[index]) {
      return add_bent(a, *layout_.bends[index], b, wire);
    }
    if (!layout_.arcs || !is_level) {
      // A little off the middle, so that crossing lines do not hide each other's numbers.
      add_line(a, b, wire, "");
      return {a.x + 0.42 * (b.x - a.x), a.y + 0.42 * (b.y - a.y)};
    }
    const bool is_below = std::max(wire.a, wire.b) < drawing_.graph.devices;
    const double bend = is_below ? 2.0 * arc_depth(a.x - b.x) : 0.0;
    return add_bent(a, {(a.x + b.x) / 2, a.y + bend}, b, wire);
  }

  /// Returns its middle.
  Point add_bent(Point a, Point towards, Point b, const Wire& wire) {
    body_ += fmt::format("<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\" {}/>\n",
                         a.x,
                         a.y,
                         towards.x,
                         towards.y,
                         b.x,
                         b.y,
                         style(wire, ""));
    return {(a.x + b.x) / 4 + towards.x / 2, (a.y + b.y) / 4 + towards.y / 2};
  }

  void add_count(Point at, int count) {
    body_ +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" fill=\"#ffffff\"/>\n", at.x, at.y);
    add_text({at.x, at.y + 4.0},
             std::to_string(count),
             "font-size=\"11\" text-anchor=\"middle\" fill=\"#2d3748\"");
  }

  void add_vertex(int vertex) {
    const Point at = place(vertex);
    const auto index = static_cast<std::size_t>(vertex);
    if (vertex < drawing_.graph.devices) {
      body_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"#ebf4ff\" stroke=\"#2c5282\" "
          "stroke-width=\"1.4\"/>\n",
          at.x,
          at.y,
          kDeviceRadius);
      const std::string& name = drawing_.names[index];
      const std::string number = name.substr(name.rfind(' ') + 1);
      add_text({at.x, at.y + 4.0},
               number,
               number.size() > 3 ? "font-size=\"9\" text-anchor=\"middle\" fill=\"#1a365d\""
                                 : "font-size=\"11\" text-anchor=\"middle\" fill=\"#1a365d\"");
      return;
    }
    const Switch detail = drawing_.graph.detail(vertex);
    const double width = 14.0 + 6.3 * static_cast<double>(drawing_.names[index].size());
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"24\" rx=\"5\" fill=\"{}\" "
        "stroke=\"#4a5568\" stroke-width=\"{}\"/>\n",
        at.x - width / 2,
        at.y - 12.0,
        width,
        fill_of(detail.kind),
        detail.reduces ? "2.4" : "1.2");
    add_text({at.x, at.y + 4.0},
             drawing_.names[index],
             "font-size=\"11\" text-anchor=\"middle\" fill=\"#1a202c\"");
  }

  static std::string_view fill_of(SwitchKind kind) {
    switch (kind) {
      case SwitchKind::nic:
        return "#fefcbf";
      case SwitchKind::pcie:
        return "#e9d8fd";
      case SwitchKind::cpu:
        return "#fed7d7";
      default:
        return "#c6f6d5";
    }
  }

  /// What the colours mean, the fastest links first.
  void add_legend() {
    if (busy_.empty()) {
      add_bandwidths();
    } else {
      add_heat();
    }
    add_remarks();
  }

  void add_heat() {
    for (std::size_t i = 0; i < kHeat.size(); ++i) {
      const double to = i == 0 ? 1 : kHeat[i - 1].from;
      body_ += fmt::format("<path d=\"M20 {0:.1f}H56\" stroke=\"{1}\" stroke-width=\"3\"/>\n",
                           height_ - 4.0,
                           kHeat[i].colour);
      add_text({64.0, height_},
               to < 1e-6 ? std::string("carries nothing")
                         : fmt::format("busy up to {}", format(to * busiest_)),
               "font-size=\"12\" fill=\"#2d3748\"");
      height_ += 20.0;
    }
  }

  void add_bandwidths() {
    std::vector<std::pair<std::size_t, WireClass>> entries;
    for (const auto& [wire_class, colour] : colours_) {
      entries.emplace_back(colour, wire_class);
    }
    std::ranges::sort(entries);
    for (const auto& [colour, wire_class] : entries) {
      const Wire sample{.a = 0,
                        .b = 0,
                        .count = 1,
                        .bandwidth = wire_class.bandwidth,
                        .latency = {},
                        .duplex = wire_class.duplex};
      add_line({20.0, height_ - 4.0}, {56.0, height_ - 4.0}, sample, "");
      const bool is_shared = wire_class.duplex == Duplex::half;
      add_text({64.0, height_},
               format(wire_class.bandwidth) + " per link" +
                   (is_shared ? ", shared by both directions" : " and direction"),
               "font-size=\"12\" fill=\"#2d3748\"");
      height_ += 20.0;
    }
  }

  void add_remarks() {
    if (std::ranges::any_of(drawing_.graph.details, &Switch::reduces)) {
      add_listed(remark_, "switches with a thick border can reduce", "; ");
    }
    if (!remark_.empty()) {
      add_text({20.0, height_}, remark_, "font-size=\"12\" fill=\"#2d3748\"");
      height_ += 20.0;
    }
  }

  void add_text(Point at, std::string_view text, std::string_view attributes) {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at.x, at.y, attributes, escaped(text));
  }

  const TopologyView& view_;
  Drawable drawing_;
  Layout layout_;
  std::map<WireClass, std::size_t> colours_;
  std::span<const Seconds> busy_;  // of the wires; none where not all are drawn
  Seconds busiest_;
  std::string remark_;  // below the legend
  double width_ = 0.0;
  double height_ = 0.0;
  std::string body_;
};

}  // namespace

std::string topology_svg(const TopologyView& view, std::span<const Seconds> busy) {
  return TopologyPicture(view, drawable(view.named.family, view.graph), busy).text();
}

Drawing topology_drawing(const TopologyView& view, std::span<const Seconds> busy) {
  const Drawable drawing = drawable(view.named.family, view.graph);
  const bool is_hot = drawing.note.empty() && busy.size() == drawing.graph.wires.size();
  return {.title = is_hot ? "Which links are busy" : "The topology",
          .svg = TopologyPicture(view, drawing, busy).text(),
          .note = busy.empty() || is_hot
                      ? ""
                      : "Not all of it is drawn, so links are not coloured by what they carry.",
          .is_large = true};
}

}  // namespace titer
