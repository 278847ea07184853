#include "timeline_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace titer {
namespace {

void by_start(std::vector<Box>& boxes) {
  std::ranges::stable_sort(boxes, [](const Box& a, const Box& b) {
    return std::tie(a.start, a.end) < std::tie(b.start, b.end);
  });
}

/// Boxes at the same time share the height of their row.
void share_height(std::vector<Box>& boxes) {
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    Box& before = boxes[i - 1];
    if (boxes[i].start < before.end) {
      before.height = before.height == Height::whole ? Height::upper : before.height;
      boxes[i].height = before.height == Height::upper ? Height::lower : Height::upper;
    }
  }
}

}  // namespace

SpanReader::SpanReader(const StepTimeline& timeline) : ranks_(timeline.ranks) {
  for (const TimelineRank& rank : timeline.ranks) {
    pipeline_ = std::max(pipeline_, rank.stage + 1);
  }
  for (const LaneSpan& span : timeline.spans) {
    if (span.part == TaskPart::weight_gradient) {
      split_.push_back(key(span));
    }
  }
  std::ranges::sort(split_);
}

SpanReader::PassKey SpanReader::key(const LaneSpan& span) {
  return {span.rank, span.stage.value_or(-1), span.micro_batch.value_or(-1)};
}

/// Paints are in the order of parts, input gradients behind whole backward passes.
Paint SpanReader::paint(const LaneSpan& span) const {
  static_assert(kPaintCount == kTaskPartNames.size() + 1);
  const bool is_behind = span.part == TaskPart::backward
                             ? std::ranges::binary_search(split_, key(span))
                             : span.part > TaskPart::backward;
  return static_cast<Paint>(static_cast<int>(span.part) + (is_behind ? 1 : 0));
}

int SpanReader::chunk(const LaneSpan& span) const {
  if (!span.stage) {
    return 0;
  }
  const int own = ranks_[static_cast<std::size_t>(span.rank)].stage;
  const bool other_way = *span.stage < pipeline_ && *span.stage != own;
  return *span.stage / pipeline_ + (other_way ? 1 : 0);
}

Picture picture_of(const StepTimeline& timeline) {
  Picture picture;
  picture.makespan = timeline.makespan;
  picture.rows.resize(timeline.ranks.size());
  const SpanReader reader(timeline);
  for (const LaneSpan& span : timeline.spans) {
    if (span.end == span.start) {
      continue;
    }
    const Box box{.paint = reader.paint(span),
                  .height = Height::whole,
                  .chunk = reader.chunk(span),
                  .micro_batch = span.micro_batch,
                  .start = span.start,
                  .end = span.end};
    PictureRow& row = picture.rows[static_cast<std::size_t>(span.rank)];
    if (span.lane == DeviceLane::compute || span.lane == DeviceLane::optimizer) {
      row.boxes.push_back(box);
      picture.used[static_cast<std::size_t>(box.paint)] = true;
      picture.chunks = std::max(picture.chunks, box.chunk + 1);
    } else {
      row.beside[static_cast<std::size_t>(span.lane)].push_back(box);
      picture.lanes[static_cast<std::size_t>(span.lane)] = true;
    }
  }
  for (PictureRow& row : picture.rows) {
    by_start(row.boxes);
    share_height(row.boxes);
    std::ranges::for_each(row.beside, by_start);
  }
  return picture;
}

std::vector<std::optional<ColumnPaint>> columns_of(const std::vector<Box>& boxes,
                                                   Ticks makespan,
                                                   int columns) {
  std::vector<std::optional<ColumnPaint>> found(static_cast<std::size_t>(columns));
  const double width = static_cast<double>(makespan) / columns;
  std::size_t first = 0;
  for (std::size_t column = 0; column < found.size(); ++column) {
    const double begin = static_cast<double>(column) * width;
    const double end = begin + width;
    std::array<double, kPaintCount> filled{};
    std::array<int, kPaintCount> chunk{};
    double idle = width;
    while (first < boxes.size() && static_cast<double>(boxes[first].end) <= begin) {
      ++first;
    }
    for (std::size_t i = first; i < boxes.size(); ++i) {
      if (static_cast<double>(boxes[i].start) >= end) {
        break;
      }
      const double part = std::min(end, static_cast<double>(boxes[i].end)) -
                          std::max(begin, static_cast<double>(boxes[i].start));
      const auto paint = static_cast<std::size_t>(boxes[i].paint);
      filled[paint] += std::max(part, 0.0);
      chunk[paint] = boxes[i].chunk;
      idle -= std::max(part, 0.0);
    }
    const auto most = std::ranges::max_element(filled);
    if (*most > 0 && *most >= idle) {
      const auto paint = static_cast<std::size_t>(most - filled.begin());
      found[column] = {.paint = static_cast<Paint>(paint), .chunk = chunk[paint]};
    }
  }
  return found;
}

std::vector<std::string> rank_names(const StepTimeline& timeline) {
  const bool several = std::ranges::any_of(timeline.ranks, [](auto& rank) {
    return rank.tensor != 0 || rank.data != 0 || rank.context != 0;
  });
  const bool cut =
      std::ranges::any_of(timeline.ranks, [](auto& rank) { return rank.context != 0; });
  std::vector<std::string> names;
  names.reserve(timeline.ranks.size());
  for (const TimelineRank& rank : timeline.ranks) {
    if (rank.stands_for > 1) {
      names.push_back(fmt::format("stage {} (x {} devices)", rank.stage, rank.stands_for));
    } else if (several) {
      names.push_back(fmt::format("stage {}, tensor {}{}, data {}",
                                  rank.stage,
                                  rank.tensor,
                                  cut ? fmt::format(", context {}", rank.context) : "",
                                  rank.data));
    } else {
      names.push_back(fmt::format("stage {}", rank.stage));
    }
  }
  return names;
}

std::vector<std::uint32_t> by_lane(const std::vector<LaneSpan>& spans) {
  std::vector<std::uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto key = [&](std::uint32_t i) {
    const LaneSpan& span = spans[i];
    return std::tuple(span.rank, span.lane, span.start, span.end, i);
  };
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace titer
