#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

/// Counts edits of short texts, one after the other, without memory of its own for each.
class EditCounter {
 public:
  /// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, no letter
  /// being edited twice; where they are more than `most`, any number above it. [Damerau 1964,
  /// "optimal string alignment"]
  [[nodiscard]] std::size_t count(std::string_view a, std::string_view b, std::size_t most) {
    row_.resize(b.size() + 1);
    std::iota(row_.begin(), row_.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
      before_.swap(above_);
      above_.swap(row_);
      row_.resize(b.size() + 1);
      if (fill_row(a, b, i) > most) {
        return most + 1;  // the row before has none below `most` then: no swap leads back
      }
    }
    return row_.back();
  }

 private:
  /// The least number in it.
  [[nodiscard]] std::size_t fill_row(std::string_view a, std::string_view b, std::size_t i) {
    row_[0] = i;
    std::size_t least = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above_[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row_[j] = std::min({above_[j] + 1, row_[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row_[j] = std::min(row_[j], before_[j - 2] + 1);
      }
      least = std::min(least, row_[j]);
    }
    return least;
  }

  std::vector<std::size_t> before_;  // the rows of the table for i-2, i-1 and i letters of a
  std::vector<std::size_t> above_;
  std::vector<std::size_t> row_;
};

/// How many bytes of both are the same last words, of words joined by "_": those of "_bandwidth" in
/// "nic_bandwidth" and "node_bandwidth", which say nothing of how near the first words are.
std::size_t same_end(std::string_view a, std::string_view b) {
  std::size_t same = 0;
  for (std::size_t i = 1; i < std::min(a.size(), b.size()) && a[a.size() - i] == b[b.size() - i];
       ++i) {
    same = a[a.size() - i] == '_' ? i : same;
  }
  return same;
}

}  // namespace

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
  const std::size_t allowed = std::max<std::size_t>(2, word.size() / 3);
  std::pair<std::size_t, std::size_t> least{allowed + 1,
                                            0};  // edits, then how much longer or shorter
  std::string_view best;
  const std::string own = lower(word);
  EditCounter edits;
  for (const std::string_view candidate : candidates) {
    const std::size_t shorter = std::min(word.size(), candidate.size());
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - shorter > least.first) {
      continue;  // at least that many insertions; spares the table for a text of any length
    }
    const std::string other = lower(candidate);
    const std::size_t distance = edits.count(own, other, least.first);
    const std::pair found{distance, longer - shorter};
    if (found < least && distance < shorter - same_end(own, other)) {
      least = found;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word,
                       std::span<const std::string_view> candidates,
                       std::string_view otherwise) {
  const std::string_view near = closest(word, candidates);
  return near.empty() ? std::string(otherwise) : "; did you mean \"" + std::string(near) + "\"?";
}

std::string suggestion(std::string_view word,
                       std::span<const std::string> candidates,
                       std::string_view otherwise) {
  return suggestion(
      word, std::vector<std::string_view>(candidates.begin(), candidates.end()), otherwise);
}

}  // namespace titer
