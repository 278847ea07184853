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
  using At = std::pair<std::size_t, std::size_t>;  // rank, operation
  std::vector<std::vector<std::size_t>> waits(schedule.size());
  std::vector<std::vector<std::vector<std::size_t>>> next(schedule.size());
  std::vector<std::vector<double>> ends(schedule.size());
  std::map<std::tuple<int, int, int>, At> receives;
  std::vector<At> ready;
  std::size_t left = 0;
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    const std::size_t count = schedule[rank].size();
    left += count;
    waits[rank].resize(count);
    next[rank].resize(count);
    ends[rank].resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Operation& operation = schedule[rank][i];
      waits[rank][i] = operation.requires_.size() + (operation.kind == 'r' ? 1 : 0);
      for (const std::size_t before : operation.requires_) {
        next[rank][before].push_back(i);
      }
      if (operation.kind == 'r') {
        receives[{operation.peer, static_cast<int>(rank), operation.tag}] = {rank, i};
      }
      if (waits[rank][i] == 0) {
        ready.emplace_back(rank, i);
      }
    }
  }
  double last = 0;
  const auto release = [&](const At& at, double end) {
    const auto [rank, i] = at;
    ends[rank][i] = std::max(ends[rank][i], end);  // of what it waits for, until it has ended
    if (--waits[rank][i] == 0) {
      ready.push_back(at);
    }
  };
  for (; !ready.empty(); --left) {
    const auto [rank, i] = ready.back();
    ready.pop_back();
    const Operation& operation = schedule[rank][i];
    const int self = static_cast<int>(rank);
    if (operation.kind == 'c') {
      ends[rank][i] += static_cast<double>(operation.value);
    } else if (operation.kind == 's') {
      ends[rank][i] += time(self, operation.peer, operation.value);
      if (const auto to = receives.find({self, operation.peer, operation.tag});
          to != receives.end()) {
        release(to->second, ends[rank][i]);
      }
    }
    for (const std::size_t after : next[rank][i]) {
      release({rank, after}, ends[rank][i]);
    }
    last = std::max(last, ends[rank][i]);
  }
  return left == 0 ? std::optional(last) : std::nullopt;
}

}  // namespace titer::goal
