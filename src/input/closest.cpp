#include <algorithm>
#include <utility>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, no letter
/// being edited twice. [Damerau 1964, "optimal string alignment"]
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the rows of the table for i-2, i-1 and i letters of a
  std::vector<std::size_t> above;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = std::move(row);
    row.assign(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

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
  for (const std::string_view candidate : candidates) {
    const std::size_t shorter = std::min(word.size(), candidate.size());
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - shorter > allowed) {
      continue;  // at least that many insertions; spares the table for a text of any length
    }
    const std::size_t distance = edit_distance(lower(word), lower(candidate));
    const std::pair found{distance, longer - shorter};
    if (found < least && distance < shorter - same_end(lower(word), lower(candidate))) {
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
