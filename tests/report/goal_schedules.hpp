#pragma once
// Reads and runs GOAL schedules.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace titer::goal {

struct Operation {
  char kind = 'c';         // calc, send, recv
  std::int64_t value = 0;  // nanoseconds or bytes
  int peer = 0;
  int tag = 0;
  std::vector<std::size_t> requires_;
};
using Schedule = std::vector<std::vector<Operation>>;  // per rank

inline void expect_word(std::istringstream& in, const std::string& wanted) {
  std::string word;
  if (!(in >> word) || word != wanted) {
    throw std::runtime_error("expected " + wanted + ", got " + word);
  }
}

/// "l3: send 10b to 1 tag 0"; labels are numbers of lines, those required stand before.
inline Operation operation_of(std::istringstream& in) {
  Operation operation;
  std::string word;
  in >> word >> operation.value;
  operation.kind = word.front();
  if (word == "calc") {
    return operation;
  }
  in.ignore();  // b
  expect_word(in, word == "send" ? "to" : "from");
  in >> operation.peer;
  expect_word(in, "tag");
  in >> operation.tag;
  return operation;
}

inline Schedule read(const std::string& text) {
  std::istringstream lines(text);
  Schedule schedule;
  std::vector<Operation>* rank = nullptr;
  std::map<std::string, std::size_t> labels;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word;
    if (!(in >> word)) {
      continue;
    }
    if (word == "num_ranks") {
      std::size_t count = 0;
      in >> count;
      schedule.resize(count);
    } else if (word == "rank") {
      std::size_t number = 0;
      in >> number;
      expect_word(in, "{");
      rank = &schedule.at(number);
      labels.clear();
    } else if (word == "}") {
      rank = nullptr;
    } else if (word.ends_with(":")) {
      if (!labels.emplace(word.substr(0, word.size() - 1), rank->size()).second) {
        throw std::runtime_error("label twice: " + word);
      }
      rank->push_back(operation_of(in));
    } else {
      std::string before;
      expect_word(in, "requires");
      in >> before;
      rank->at(labels.at(word)).requires_.push_back(labels.at(before));
    }
  }
  return schedule;
}

/// Sends and receives by (from, to, tag), with their bytes.
using Ends = std::map<std::tuple<int, int, int>, std::vector<std::int64_t>>;
inline Ends ends(const Schedule& schedule, char kind) {
  Ends found;
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    const int self = static_cast<int>(rank);
    for (const Operation& operation : schedule[rank]) {
      if (operation.kind == kind) {
        const auto key = kind == 's' ? std::tuple(self, operation.peer, operation.tag)
                                     : std::tuple(operation.peer, self, operation.tag);
        found[key].push_back(operation.value);
      }
    }
  }
  return found;
}

/// When all have ended, in nanoseconds, a message ending `time`(from, to, bytes) after its start at
/// both ends; nothing if some wait for ever.
inline std::optional<double> run(const Schedule& schedule,
                                 const std::function<double(int, int, std::int64_t)>& time) {
  std::vector<std::vector<std::optional<double>>> done(schedule.size());
  std::map<std::tuple<int, int, int>, double> sent;
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    done[rank].resize(schedule[rank].size());
  }
  std::vector<std::size_t> first(schedule.size(), 0);  // all before are done
  double last = 0;
  const auto try_one = [&](std::size_t rank, std::size_t i) {
    const Operation& operation = schedule[rank][i];
    double start = 0;
    for (const std::size_t before : operation.requires_) {
      if (!done[rank][before]) {
        return false;
      }
      start = std::max(start, *done[rank][before]);
    }
    const int self = static_cast<int>(rank);
    if (operation.kind == 'c') {
      start += static_cast<double>(operation.value);
    } else if (operation.kind == 's') {
      start += time(self, operation.peer, operation.value);
      sent[{self, operation.peer, operation.tag}] = start;
    } else {
      const auto from = sent.find({operation.peer, self, operation.tag});
      if (from == sent.end()) {
        return false;
      }
      start = std::max(start, from->second);
    }
    done[rank][i] = start;
    last = std::max(last, start);
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      for (std::size_t i = first[rank]; i < schedule[rank].size(); ++i) {
        progress = (!done[rank][i] && try_one(rank, i)) || progress;
      }
      while (first[rank] < schedule[rank].size() && done[rank][first[rank]]) {
        ++first[rank];
      }
    }
  }
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    if (first[rank] < schedule[rank].size()) {
      return std::nullopt;
    }
  }
  return last;
}

}  // namespace titer::goal
