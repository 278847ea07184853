#pragma once
// When the rows of a table are made safe: waiting for the disk after every few would cost more than
// computing them.

#include <algorithm>
#include <chrono>

#include "titer/sweep/row_file.hpp"

namespace titer {

/// After a second, and after a few times what the disk took the last time.
class RowSaver {
 public:
  explicit RowSaver(RowFile& file) : file_(&file) {}

  void save_if_due() {
    const auto begin = std::chrono::steady_clock::now();
    if (begin < next_) {
      return;
    }
    file_->flush();
    const auto end = std::chrono::steady_clock::now();
    next_ = end + std::max(least_pause, patience * (end - begin));
  }

 private:
  static constexpr std::chrono::nanoseconds least_pause = std::chrono::seconds(1);
  static constexpr int patience = 20;

  RowFile* file_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + least_pause;
};

}  // namespace titer
