#pragma once
// The forms in which programs print how fast they train. One of them counts: what is told line by
// line, else MLPerf's records, else a bar of progress, else what is said at the end of all.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "titer/trace/training_log.hpp"

namespace titer {

/// Whether a form was there; then `log` has its program and steps.
bool read_speed_lines(std::string_view text, TrainingLog& log);
bool read_mlperf_records(std::string_view text, TrainingLog& log);
bool read_progress_bar(std::string_view text, TrainingLog& log);
bool read_run_summary(std::string_view text, TrainingLog& log);

/// A line in small letters, without the sequences that colour a terminal.
[[nodiscard]] std::string plain_line(std::string_view line);
/// What follows the words, where they are words of their own.
[[nodiscard]] std::optional<std::string_view> after_words(std::string_view line,
                                                          std::string_view words);
/// "4,376" is 4376; `rest` is what follows the number.
[[nodiscard]] std::optional<double> logged_number(std::string_view text, std::string_view& rest);

/// Each line with its number, from 1; a bar of progress writes over its line, so "\r" ends one too.
template <class Take>
void each_logged_line(std::string_view text, const Take& take) {
  int number = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    take(text.substr(0, end), number);
    number += end < text.size() && text[end] == '\n' ? 1 : 0;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace titer
