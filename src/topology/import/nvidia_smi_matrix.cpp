#include "nvidia_smi_matrix.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "text_file.hpp"

#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

bool is_gpu(std::string_view name) {
  return name.size() > 3 && name.starts_with("GPU") &&
         name.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

/// The row of names: it begins as the others do, with a GPU, after which comes no cell of a matrix.
bool is_header(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 3> ends = {"CPU", "NUMA", "NIC0"};
  if (words.empty() || !is_gpu(words.front())) {
    return false;
  }
  return words.size() == 1 || is_gpu(words[1]) || words[1].starts_with("mlx5_") ||
         includes(ends, words[1]);
}

/// What `nvidia-smi topo -p2p` prints: whether two GPUs may reach each other, not over what.
bool is_capability(std::string_view word) {
  constexpr std::array<std::string_view, 7> words = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};
  return includes(words, word);
}

std::optional<Cell> cell_of(std::string_view word) {
  constexpr std::array<Choice<Path>, 7> codes = {{{"X", Path::self},
                                                  {"PIX", Path::pix},
                                                  {"PXB", Path::pxb},
                                                  {"PHB", Path::phb},
                                                  {"NODE", Path::node},
                                                  {"SYS", Path::sys},
                                                  {"SOC", Path::sys}}};
  for (const auto& code : codes) {
    if (code.name == word) {
      return Cell{code.value, 0};
    }
  }
  const auto links = word.starts_with("NV") ? number_of_text<int>(word.substr(2)) : std::nullopt;
  const bool is_count = links && *links >= 1 && *links <= 1024;
  return is_count ? std::optional(Cell{Path::nvlink, *links}) : std::nullopt;
}

/// Several times what one operating system has seen; packing rings over more takes minutes.
constexpr int kMostDevices = 128;

/// The names of the columns: GPUs, then NICs, up to the affinities.
void read_header(std::string_view source,
                 int line,
                 const std::vector<std::string>& words,
                 Matrix& matrix) {
  for (const std::string& word : words) {
    if (word == "CPU" || word == "NUMA") {
      break;
    }
    matrix.names.push_back(word);
  }
  const auto gpus = std::ranges::find_if_not(matrix.names, is_gpu);
  matrix.devices = static_cast<int>(gpus - matrix.names.begin());
  if (matrix.devices > kMostDevices) {
    refuse_line(source,
                line,
                std::to_string(matrix.devices) + " GPUs: expected those of one node, at most " +
                    std::to_string(kMostDevices));
  }
}

/// A row, held against the names of the columns and the rows above it.
class RowReader {
 public:
  /// REQUIRES that `matrix` has fewer rows than names and `words` is not empty.
  RowReader(std::string_view source,
            int line,
            const std::vector<std::string>& words,
            const Matrix& matrix)
      : source_(source),
        line_(line),
        words_(words),
        matrix_(matrix),
        row_(matrix.rows.size()),
        name_(matrix.names[row_]) {}

  [[nodiscard]] std::vector<Cell> cells() const {
    const std::size_t columns = matrix_.names.size();
    if (words_.front() != name_) {
      refuse("row \"" + words_.front() + "\": expected the row of " + name_);
    }
    if (words_.size() < 1 + columns) {
      refuse("row " + name_ + " has " + std::to_string(words_.size() - 1) + " cells; expected " +
             std::to_string(columns) + ", one per column");
    }
    std::vector<Cell> found;
    found.reserve(columns);
    for (std::size_t column = 0; column < columns; ++column) {
      found.push_back(cell_at(column));
      if (column < row_) {
        require_symmetry(column, found.back());
      }
    }
    return found;
  }

  /// Of processors, which the column after the matrix tells; "" where it does not.
  [[nodiscard]] std::string affinity() const {
    const std::size_t next = 1 + matrix_.names.size();
    return words_.size() > next && words_[next] != "N/A" ? words_[next] : "";
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { refuse_line(source_, line_, what); }

  [[nodiscard]] Cell cell_at(std::size_t column) const {
    const std::string& word = words_[1 + column];
    if (is_capability(word)) {
      refuse("\"" + word +
             "\" is of nvidia-smi topo -p2p, which tells whether GPUs reach each other, not over "
             "what; expected the matrix of nvidia-smi topo -m");
    }
    const auto cell = cell_of(word);
    if (!cell || (cell->path == Path::self) != (column == row_)) {
      refuse(name_ + " to " + matrix_.names[column] + ": \"" + word + "\": expected " +
             (column == row_ ? "X" : "NV#, PIX, PXB, PHB, NODE or SYS"));
    }
    return *cell;
  }

  /// REQUIRES a column whose row was read.
  void require_symmetry(std::size_t column, const Cell& cell) const {
    const Cell& back = matrix_.rows[column][row_];
    if (back.path != cell.path || back.links != cell.links) {
      refuse(name_ + " to " + matrix_.names[column] + " is " + words_[1 + column] +
             ", but not the way back; expected a symmetric matrix");
    }
  }

  std::string_view source_;
  int line_;
  const std::vector<std::string>& words_;
  const Matrix& matrix_;
  std::size_t row_;
  const std::string& name_;  // of the row
};

}  // namespace

Matrix parse_matrix(std::string_view text, std::string_view source) {
  Matrix matrix;
  int line = 0;
  for (const std::string_view one : divided(text, "\n")) {
    const std::vector<std::string> words = text_words(one);
    ++line;
    if (words.empty()) {
      continue;
    }
    if (matrix.names.empty()) {
      if (is_header(words)) {
        read_header(source, line, words, matrix);
      }
    } else if (matrix.rows.size() < matrix.names.size()) {
      const RowReader row(source, line, words, matrix);
      matrix.rows.push_back(row.cells());
      matrix.affinities.push_back(row.affinity());
    }
  }
  if (matrix.names.empty()) {
    refuse_line(
        source, 1, "no header row that starts with GPU0; expected what nvidia-smi topo -m prints");
  }
  if (matrix.rows.size() < matrix.names.size()) {
    refuse_line(source, line, "the row of " + matrix.names[matrix.rows.size()] + " is missing");
  }
  return matrix;
}

bool is_nvidia_smi(std::string_view text) {
  const std::vector<std::string_view> lines = divided(text, "\n");
  return std::ranges::any_of(lines, [](std::string_view line) {
    return line.find("GPU") != line.npos && is_header(text_words(line));
  });
}

}  // namespace titer
