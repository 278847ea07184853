// The traffic matrix as a heat map.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "chart.hpp"
#include "titer/report/network/traffic_matrix_report.hpp"
#include "titer/units/text.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr int kMostCells = 512;  // on a side
constexpr int kMostLines = 64;   // between nodes or stages
constexpr int kLevels = 24;      // colours that are told apart
constexpr double kMatrixSide = 560.0;

struct Colour {
  double red;
  double green;
  double blue;
};
/// Light to dark.
constexpr std::array<Colour, 5> kScale = {
    {{253, 224, 139}, {249, 157, 89}, {224, 82, 92}, {142, 36, 117}, {46, 16, 85}}};

std::string colour_at(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * (kScale.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(place), kScale.size() - 2);
  const double part = place - static_cast<double>(index);
  const auto mix = [&](double Colour::*channel) {
    return std::lround(std::lerp(kScale[index].*channel, kScale[index + 1].*channel, part));
  };
  return fmt::format(
      "#{:02x}{:02x}{:02x}", mix(&Colour::red), mix(&Colour::green), mix(&Colour::blue));
}

/// Devices side by side, as many in each cell.
class Cells {
 public:
  explicit Cells(const TrafficMatrix& matrix)
      : per_cell_((matrix.ranks() + kMostCells - 1) / kMostCells),
        side_((matrix.ranks() + per_cell_ - 1) / per_cell_) {
    for (const TrafficPair& pair : matrix.pairs()) {
      bytes_[{pair.from / per_cell_, pair.to / per_cell_}] += pair.bytes;
    }
    for (const auto& [cell, bytes] : bytes_) {
      least_ = least_ > Bytes{} ? std::min(least_, bytes) : bytes;
      most_ = std::max(most_, bytes);
    }
  }

  [[nodiscard]] int per_cell() const { return per_cell_; }
  [[nodiscard]] int side() const { return side_; }
  [[nodiscard]] Bytes least() const { return least_; }
  [[nodiscard]] Bytes most() const { return most_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  /// Where bytes are on the scale from the least to the most.
  [[nodiscard]] double share(Bytes bytes) const {
    return most_ > least_ ? std::log(bytes / least_) / std::log(most_ / least_) : 1.0;
  }

  /// One path for each colour; in a row, cells of one colour are one box.
  [[nodiscard]] std::string paths() const {
    std::array<std::string, kLevels> of_level;
    for (auto cell = bytes_.begin(); cell != bytes_.end();) {
      const int level = level_of(cell->second);
      const auto [row, column] = cell->first;
      int length = 0;
      while (cell != bytes_.end() && cell->first == std::pair(row, column + length) &&
             level_of(cell->second) == level) {
        ++length;
        ++cell;
      }
      of_level[static_cast<std::size_t>(level)] +=
          fmt::format("M{0} {1}h{2}v1h-{2}z", column, row, length);
    }
    std::string text;
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (!of_level[level].empty()) {
        text += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n",
                            colour_at(static_cast<double>(level) / (kLevels - 1)),
                            of_level[level]);
      }
    }
    return text;
  }

 private:
  [[nodiscard]] int level_of(Bytes bytes) const {
    return static_cast<int>(std::lround(share(bytes) * (kLevels - 1)));
  }

  int per_cell_;
  int side_;
  std::map<std::pair<int, int>, Bytes> bytes_;  // by row and column
  Bytes least_;
  Bytes most_;
};

/// The first devices of nodes, of which there are few enough to be told apart.
std::vector<int> node_begins(const TrafficMatrixView& view) {
  std::vector<int> begins;
  for (int rank = view.devices_per_node; rank < view.matrix.ranks();
       rank += view.devices_per_node) {
    begins.push_back(rank);
  }
  return begins.size() < kMostLines ? begins : std::vector<int>{};
}

/// Where the pipeline's rank changes from one device to the next.
std::vector<int> stage_begins(const TrafficMatrixView& view) {
  std::vector<int> begins;
  for (std::size_t rank = 1; rank < view.stages.size(); ++rank) {
    if (view.stages[rank] != view.stages[rank - 1]) {
      begins.push_back(static_cast<int>(rank));
    }
  }
  return begins.size() < kMostLines ? begins : std::vector<int>{};
}

/// About eight marks, round numbers of devices apart.
int rank_mark_distance(int ranks) {
  int distance = 1;
  while (ranks > 9 * distance) {
    distance *= 2;
  }
  return distance;
}

class HeatMap {
 public:
  explicit HeatMap(const TrafficMatrixView& view)
      : view_(view),
        cells_(view.matrix),
        chart_(
            {.width = kMatrixSide, .height = kMatrixSide, .legend = 150.0}, view.title, view.note),
        scale_(kMatrixSide / (static_cast<double>(cells_.side()) * cells_.per_cell())) {}

  std::string text() {
    add_axes();
    std::string paper =
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";  // over the marks' lines
    paper += fmt::format(
        "<g transform=\"translate({},{}) scale({:.6g})\" shape-rendering=\"crispEdges\">\n{}</g>\n",
        tenths(chart_.left()),
        tenths(chart_.top()),
        scale_ * cells_.per_cell(),
        cells_.paths());
    paper += lines(node_begins(view_), "#718096", 0.35, "a node ends");
    paper += lines(stage_begins(view_), "#2b6cb0", 0.6, "a pipeline rank ends");
    if (!cells_.empty()) {
      add_scale();
    }
    return chart_.svg(paper);
  }

 private:
  [[nodiscard]] double along(double rank) const { return rank * scale_; }

  void add_axes() {
    const int ranks = view_.matrix.ranks();
    for (int rank = 0; rank < ranks; rank += rank_mark_distance(ranks)) {
      const double middle = along(rank + 0.5 * std::min(cells_.per_cell(), ranks));
      chart_.x_mark(chart_.left() + middle, std::to_string(rank));
      chart_.y_mark(chart_.top() + middle, std::to_string(rank));
    }
    chart_.axis_names("to device", "from device");
    if (cells_.per_cell() > 1) {
      (void)chart_.legend_entry(fmt::format("a cell: {0} x {0} devices", cells_.per_cell()));
    }
  }

  std::string lines(const std::vector<int>& begins,
                    std::string_view colour,
                    double width,
                    std::string_view words) {
    if (begins.empty()) {
      return {};
    }
    std::string path;
    for (const int rank : begins) {
      path += fmt::format("M{0} {1}V{2}M{3} {4}H{5}",
                          tenths(chart_.left() + along(rank)),
                          tenths(chart_.top()),
                          tenths(chart_.bottom()),
                          tenths(chart_.left()),
                          tenths(chart_.top() + along(rank)),
                          tenths(chart_.right()));
    }
    const auto [left, middle] = chart_.legend_entry(words);
    chart_.add(fmt::format("<path stroke=\"{}\" stroke-width=\"{}\" d=\"M{} {}h12\"/>\n",
                           colour,
                           width,
                           tenths(left),
                           tenths(middle)));
    return fmt::format(
        "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" d=\"{}\"/>\n", colour, width, path);
  }

  /// Colours and their bytes.
  void add_scale() {
    constexpr double height = 260.0;
    const auto [left, first] = chart_.legend_entry("bytes of a cell");
    const double top = first + 22.0;
    for (int level = 0; level < kLevels; ++level) {
      chart_.add(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"16\" height=\"{}\" fill=\"{}\"/>\n",
                             tenths(left),
                             tenths(top + height * (kLevels - 1 - level) / kLevels),
                             tenths(height / kLevels + 0.5),
                             colour_at(static_cast<double>(level) / (kLevels - 1))));
    }
    add_scale_mark(left, top, cells_.most());
    if (cells_.most() <= cells_.least()) {
      return;
    }
    add_scale_mark(left, top + height, cells_.least());
    constexpr double ends = 0.06;  // of the scale, where its ends' words are
    const double range = cells_.most() / cells_.least();
    const double factor = range > 1024 ? 16 : range > 16 ? 4 : 2;
    for (double mark = 1; mark < cells_.most().si(); mark *= factor) {
      const Bytes bytes = Bytes::from_si(mark);
      const double share = bytes > cells_.least() ? cells_.share(bytes) : 0.0;
      if (share > ends && share < 1.0 - ends) {
        add_scale_mark(left, top + (1.0 - share) * height, bytes);
      }
    }
  }
  void add_scale_mark(double left, double y, Bytes bytes) {
    chart_.add(
        fmt::format("<path stroke=\"#4a5568\" d=\"M{} {}h5\"/>\n", tenths(left + 16.0), tenths(y)));
    chart_.text(left + 25.0, y + 4.0, "font-size=\"11\" fill=\"#4a5568\"", format(bytes));
  }

  const TrafficMatrixView& view_;
  Cells cells_;
  Chart chart_;
  double scale_;  // of a device
};

}  // namespace

std::string traffic_matrix_svg(const TrafficMatrixView& view) { return HeatMap(view).text(); }

}  // namespace titer
