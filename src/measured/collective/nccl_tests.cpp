// The reader of what nccl-tests prints. Lines that are no rows are noise, unless they tell the
// columns, the ranks, the operation or a version.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "titer/measured/collective/measured_collective.hpp"

#include <fmt/format.h>
#include "titer/input/file.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

using TableWords = std::vector<std::string_view>;

bool is_digits(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::optional<double> number(std::string_view word) {
  const auto value = number_of_text<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Without the tag that mpirun puts before each line: "[1,0]<stdout>:".
std::string_view without_tag(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with('[')) {
    const std::size_t end = line.find(">:");
    const std::size_t tag = line.find("]<std");
    return end != std::string_view::npos && tag < end ? line.substr(end + 2) : line;
  }
  return line;
}

/// Where the figures stand in a row.
struct Columns {
  std::size_t count = 0;
  std::size_t type = 2;
  std::optional<std::size_t> reduce;
  std::vector<std::size_t> times;  // out of place, in place
};

Columns columns_of(const TableWords& names) {
  Columns columns{.count = names.size(), .reduce = std::nullopt, .times = {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "time") {
      columns.times.push_back(i);
    } else if (names[i] == "type") {
      columns.type = i;
    } else if (names[i] == "redop") {
      columns.reduce = i;
    }
  }
  return columns;
}

/// For a table without its header: the layouts with and without "root".
Columns usual_columns(std::size_t count) {
  TableWords names = {"size", "count", "type", "redop"};
  if (count == 13) {
    names.push_back("root");
  }
  for (int place = 0; place < 2; ++place) {
    names.insert(names.end(), {"time", "algbw", "busbw", "#wrong"});
  }
  return columns_of(names);
}

/// "23007" of nccl-library=23007 is 2.30.7.
std::string version_of_code(std::string_view digits) {
  const auto code = number(digits);
  if (!code || *code < 20000 || *code >= 100000) {
    return {};
  }
  const int value = static_cast<int>(*code);
  return fmt::format("{}.{}.{}", value / 10000, value / 100 % 100, value % 100);
}

class NcclTestsReader {
 public:
  explicit NcclTestsReader(std::string source) { result_.source = std::move(source); }

  void line(std::string_view text) {
    ++line_;
    const TableWords words = words_of(without_tag(text));
    if (words.empty()) {
      return;
    }
    const std::size_t begin = begin_of_row(words);
    const std::size_t hash = text.find('#');
    if (begin < words.size()) {
      row(TableWords(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end()));
    } else if (hash != text.npos) {
      comment(words_of(text.substr(hash)));
    }
    note_operation(words);
    note_version(words);
  }

  [[nodiscard]] MeasuredCollective finish() {
    problems_.raise();
    if (result_.sizes.empty()) {
      throw InputError(result_.source +
                       ": expected the output of nccl-tests, found no row of measurements");
    }
    if (result_.operation.empty() && ratio_ > 1.01) {
      result_.operation = name_of(Collective::all_reduce);  // only its bus factor is above one
    }
    result_.collective = collective_named(result_.operation);
    const bool lists_all = ranks_ > 1 && ranks_ == last_rank_ + 1;
    if (lists_all) {
      result_.ranks = ranks_;
      result_.nodes = static_cast<int>(hosts_.size());
    } else {
      result_.ranks = ranks_by_ratio();
      if (!result_.ranks && ranks_ > 0) {
        result_.ranks = last_rank_ + 1;
      }
    }
    return std::move(result_);
  }

 private:
  /// Where size, count, a type and figures begin, behind a rank, a name or a time that stands
  /// before each line ("0:", "worker-3:", "2026-01-05 10:00:00"); the number of words where there
  /// is no row.
  [[nodiscard]] static std::size_t begin_of_row(const TableWords& words) {
    constexpr std::size_t most_before = 4;
    for (std::size_t at = 0; at <= most_before && at + 6 <= words.size(); ++at) {
      if (is_digits(words[at]) && is_digits(words[at + 1]) &&
          std::isalpha(static_cast<unsigned char>(words[at + 2].front())) != 0) {
        return at;
      }
    }
    return words.size();
  }

  void row(const TableWords& words) {
    const Columns columns = columns_ ? *columns_ : usual_columns(words.size());
    if (words.size() != columns.count) {
      complain(std::to_string(words.size()) + " columns, but expected " +
               std::to_string(columns.count));
      return;
    }
    MeasuredSize size{.size = Bytes::from_si(number(words[0]).value_or(0.0)),
                      .type = std::string(words[columns.type]),
                      .line = line_};
    if (columns.reduce) {
      size.reduce = words[*columns.reduce];
    }
    if (!columns.times.empty()) {
      size.out_of_place = time(words[columns.times[0]]);
      note_ratio(words, columns.times[0]);
    }
    if (columns.times.size() > 1) {
      size.in_place = time(words[columns.times[1]]);
    }
    if (!(size.size > Bytes{}) || !size.time()) {
      ++result_.skipped;
      return;
    }
    result_.sizes.push_back(std::move(size));
  }

  /// In microseconds; "N/A" where the way was not measured.
  [[nodiscard]] std::optional<Seconds> time(std::string_view word) {
    if (word == "N/A") {
      return std::nullopt;
    }
    const auto value = number(word);
    if (!value || *value <= 0.0) {
      complain(std::string(word) + ": expected a time in microseconds");
      return std::nullopt;
    }
    return Seconds::from_si(*value * 1e-6);
  }

  /// The fastest row says busbw over algbw with the most digits.
  void note_ratio(const TableWords& words, std::size_t time) {
    const auto figure = [&](std::size_t at) {
      return at < words.size() ? number(words[at]).value_or(0.0) : 0.0;
    };
    if (figure(time + 1) > fastest_) {
      fastest_ = figure(time + 1);
      ratio_ = figure(time + 2) / fastest_;
    }
  }

  /// 2 (n-1)/n or (n-1)/n solved for n; empty when the digits do not tell n.
  [[nodiscard]] std::optional<int> ranks_by_ratio() const {
    if (!result_.collective || *result_.collective == Collective::send_recv || fastest_ <= 0.0) {
      return std::nullopt;
    }
    const double factor = bus_factor(*result_.collective, 1 << 20) > 1.5 ? 2.0 : 1.0;
    const double others = ratio_ / factor;
    if (others <= 0.0 || others >= 1.0) {
      return std::nullopt;
    }
    const double ranks = 1.0 / (1.0 - others);
    const double digits = 0.005 / fastest_;  // of the printed bandwidths, relative
    const bool sure = ranks * ranks * digits < 0.25;
    return sure ? std::optional(static_cast<int>(std::lround(ranks))) : std::nullopt;
  }

  void comment(const TableWords& words) {
    const bool apart = words.front() == "#";
    const TableWords rest(words.begin() + (apart ? 1 : 0), words.end());
    if (rest.size() >= 4 && rest[0] == "size" && rest[1] == "count") {
      columns_ = columns_of(rest);
    } else if (rest.size() >= 2 && rest[0] == "Rank" && is_digits(rest[1])) {
      ++ranks_;
      last_rank_ = std::max(last_rank_, static_cast<int>(number(rest[1]).value_or(0)));
      const auto on = std::ranges::find(rest, "on");
      if (on != rest.end() && on + 1 != rest.end()) {
        hosts_.insert(std::string(*(on + 1)));
      }
      note_device(rest);
    }
  }

  /// "… device  0 [0009:01:00] NVIDIA GH200 120GB": what follows the bracket.
  void note_device(const TableWords& words) {
    const auto bus = std::ranges::find_if(
        words, [](std::string_view word) { return word.starts_with('[') && word.ends_with(']'); });
    if (!result_.hardware.empty() || bus == words.end()) {
      return;
    }
    for (auto word = bus + 1; word != words.end(); ++word) {
      if (!result_.hardware.empty()) {
        result_.hardware += ' ';
      }
      result_.hardware += *word;
    }
  }

  /// The program's name, or what a script was told to test (-t).
  void note_operation(const TableWords& words) {
    for (std::size_t i = 0; i < words.size() && result_.operation.empty(); ++i) {
      const std::string_view name = words[i].substr(words[i].find_last_of('/') + 1);
      if (name.ends_with("_perf") || name.ends_with("_perf_mpi") ||
          (i > 0 && words[i - 1] == "-t")) {
        result_.operation = operation_name(name.substr(0, name.rfind("_mpi")));
      }
    }
  }

  /// "NCCL version 2.26.6+cuda12.8" or "nccl-library=23007".
  void note_version(const TableWords& words) {
    constexpr std::string_view library = "nccl-library=";
    for (std::size_t i = 0; i < words.size() && result_.library_version.empty(); ++i) {
      if (words[i].starts_with(library)) {
        result_.library_version = version_of_code(words[i].substr(library.size()));
      } else if (i >= 2 && words[i - 2] == "NCCL" && words[i - 1] == "version") {
        result_.library_version = words[i].substr(0, words[i].find('+'));
      }
    }
  }

  void complain(const std::string& what) {
    problems_.add(result_.source + ":" + std::to_string(line_) + ": " + what);
  }

  MeasuredCollective result_;
  Problems problems_;
  std::optional<Columns> columns_;
  std::set<std::string> hosts_;
  int ranks_ = 0;  // lines that tell of one
  int last_rank_ = -1;
  int line_ = 0;
  double fastest_ = 0.0;
  double ratio_ = 0.0;
};

}  // namespace

MeasuredCollective parse_nccl_tests(std::string_view text, std::string source_name) {
  NcclTestsReader reader(std::move(source_name));
  for (const std::string_view line : divided(text, "\n")) {
    reader.line(line);
  }
  return reader.finish();
}

MeasuredCollective load_nccl_tests(const std::filesystem::path& path) {
  return parse_nccl_tests(read_text(path), path.string());
}

}  // namespace titer
