// GOAL, the schedules of LogGOPSim [Hoefler, Siebert, Lumsdaine 2009]: a rank at a time, labelled
// operations and what each requires.

#include <map>
#include <span>

#include "titer/input/reader.hpp"
#include "titer/trace/workload.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr int kMostGoalRanks = 1 << 20;

class GoalReader {
 public:
  explicit GoalReader(const std::string& source) { workload_.source = source; }

  Workload read(std::string_view text) {
    for (const std::string_view line : divided(text, "\n")) {
      ++line_;
      read_line(line);
    }
    if (rank_ >= 0) {
      fail("the file ends in a rank; expected }");
    }
    if (workload_.ranks.empty()) {
      fail("expected num_ranks");
    }
    workload_.format = "GOAL";
    if (irequires_ > 0) {
      workload_.remarks.push_back(
          std::to_string(irequires_) +
          " irequires (after the start of another) wait for what that one waits for");
    }
    return std::move(workload_);
  }

 private:
  using GoalWords = std::vector<std::string_view>;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(workload_.source + ":" + std::to_string(line_) + ": " + what);
  }

  [[nodiscard]] std::int64_t whole(std::string_view word, std::string_view what) const {
    const auto value = number_of_text<std::int64_t>(word);
    if (!value || *value < 0) {
      fail(std::string(word) + ": expected " + std::string(what));
    }
    return *value;
  }

  void read_line(std::string_view line) {
    const GoalWords words = words_of(line.substr(0, line.find("//")));
    if (words.empty() || words.front().starts_with('#')) {
      return;
    }
    if (words[0] == "num_ranks" && words.size() == 2) {
      const std::int64_t count = whole(words[1], "how many ranks there are");
      if (count < 1 || count > kMostGoalRanks || !workload_.ranks.empty()) {
        fail("num_ranks: expected once, from 1 to " + std::to_string(kMostGoalRanks));
      }
      workload_.ranks.resize(static_cast<std::size_t>(count));
    } else if (words[0] == "rank" && words.size() >= 2) {
      begin_rank(words[1]);
    } else if (words[0] == "}") {
      rank_ = -1;
    } else if (words[0] != "{") {
      read_operation(words);
    }
  }

  void begin_rank(std::string_view number) {
    rank_ = static_cast<int>(whole(number.substr(0, number.find('{')), "a rank"));
    if (rank_ >= static_cast<int>(workload_.ranks.size())) {
      fail("rank " + std::to_string(rank_) + ": expected below num_ranks, " +
           std::to_string(workload_.ranks.size()));
    }
    labels_.clear();
  }

  void read_operation(const GoalWords& words) {
    if (rank_ < 0) {
      fail(std::string(words[0]) + ": expected num_ranks or rank");
    }
    const bool requires_one =
        words.size() == 3 && (words[1] == "requires" || words[1] == "irequires");
    if (requires_one) {
      require(words);
      return;
    }
    const bool labelled = words[0].ends_with(':');
    const std::string_view label =
        labelled ? words[0].substr(0, words[0].size() - 1) : std::string_view();
    const GoalWords rest(words.begin() + (labelled ? 1 : 0), words.end());
    std::vector<WorkNode>& nodes = workload_.ranks[static_cast<std::size_t>(rank_)];
    if (!label.empty() &&
        !labels_.emplace(label, static_cast<std::uint32_t>(nodes.size())).second) {
      fail(std::string(label) + ": a second time in this rank");
    }
    nodes.push_back(operation(label, rest));
  }

  [[nodiscard]] WorkNode operation(std::string_view label, const GoalWords& words) const {
    WorkNode node{.name = std::string(label), .bytes = {}, .after = {}, .line = line_};
    if (words.size() >= 2 && words[0] == "calc") {
      const std::int64_t nanoseconds = whole(words[1], "nanoseconds");
      node.duration = Seconds::from_si(1e-9 * static_cast<double>(nanoseconds));
      set_options(std::span(words).subspan(2), node);
    } else if (is_message(words)) {
      set_message(words, node);
      set_options(std::span(words).subspan(4), node);
    } else {
      fail(std::string(words.empty() ? "" : words[0]) +
           ": expected calc NANOSECONDS, send BYTESb to RANK, recv BYTESb from RANK, or LABEL "
           "requires LABEL");
    }
    return node;
  }

  /// "send 8b to 1", "recv 8b from 0", and options.
  static bool is_message(const GoalWords& words) {
    if (words.size() < 4 || !words[1].ends_with('b')) {
      return false;
    }
    return (words[0] == "send" && words[2] == "to") || (words[0] == "recv" && words[2] == "from");
  }

  void set_message(const GoalWords& words, WorkNode& node) const {
    const std::int64_t bytes = whole(words[1].substr(0, words[1].size() - 1), "bytes, as 8b");
    node.kind = words[0] == "send" ? WorkKind::send : WorkKind::receive;
    node.bytes = Bytes::from_si(static_cast<double>(bytes));
    node.peer = static_cast<int>(whole(words[3], "a rank"));
  }

  /// Each a word and its number: "tag 0", "cpu 1"; "nic 0" counts for nothing.
  void set_options(std::span<const std::string_view> words, WorkNode& node) const {
    for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
      const std::int64_t value = whole(words[at + 1], "a number");
      if (words[at] == "tag") {
        node.tag = static_cast<int>(value);
      } else if (words[at] == "cpu") {
        node.lane = static_cast<std::uint64_t>(value);
      } else if (words[at] != "nic") {
        fail(std::string(words[at]) + ": expected tag, cpu or nic");
      }
    }
  }

  void require(const GoalWords& words) {
    const auto waits = labels_.find(words[0]);
    const auto first = labels_.find(words[2]);
    if (waits == labels_.end() || first == labels_.end()) {
      fail(std::string(waits == labels_.end() ? words[0] : words[2]) +
           ": expected the label of an operation above");
    }
    std::vector<WorkNode>& nodes = workload_.ranks[static_cast<std::size_t>(rank_)];
    WorkNode& node = nodes[waits->second];
    if (words[1] == "irequires") {
      ++irequires_;
      const std::vector<std::uint32_t> others = nodes[first->second].after;
      node.after.insert(node.after.end(), others.begin(), others.end());
    } else {
      node.after.push_back(first->second);
    }
  }

  Workload workload_;
  int line_ = 0;
  int rank_ = -1;  // whose operations are being read
  int irequires_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
};

}  // namespace

bool is_goal(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t\r");
    begin = end + 1;
    if (first != line.npos && line[first] != '/' && line[first] != '#') {
      return line.substr(first).starts_with("num_ranks ");
    }
  }
  return false;
}

Workload parse_goal(std::string_view text, const std::string& source_name) {
  return GoalReader(source_name).read(text);
}

}  // namespace titer
