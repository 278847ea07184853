#include "nvidia_smi_matrix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "text_file.hpp"

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
         std::find(ends.begin(), ends.end(), words[1]) != ends.end();
}

/// What `nvidia-smi topo -p2p` prints: whether two GPUs may reach each other, not over what.
bool is_capability(std::string_view word) {
  constexpr std::array<std::string_view, 7> words = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};
  return std::find(words.begin(), words.end(), word) != words.end();
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
  int links = 0;
  const char* const end = word.data() + word.size();
  if (!word.starts_with("NV")) {
    return std::nullopt;
  }
  const auto [rest, error] = std::from_chars(word.data() + 2, end, links);
  const bool is_count = error == std::errc() && rest == end && links >= 1 && links <= 1024;
  return is_count ? std::optional(Cell{Path::nvlink, links}) : std::nullopt;
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
  const auto gpus = std::find_if_not(matrix.names.begin(), matrix.names.end(), is_gpu);
  matrix.devices = static_cast<int>(gpus - matrix.names.begin());
  if (matrix.devices > kMostDevices) {
    refuse_line(source,
                line,
                std::to_string(matrix.devices) + " GPUs: expected those of one node, at most " +
                    std::to_string(kMostDevices));
  }
}

void read_row(std::string_view source,
              int line,
              const std::vector<std::string>& words,
              Matrix& matrix) {
  const std::size_t row = matrix.rows.size();
  const std::string& expected = matrix.names[row];
  if (words.front() != expected) {
    refuse_line(source, line, "row \"" + words.front() + "\": expected the row of " + expected);
  }
  if (words.size() < 1 + matrix.names.size()) {
    refuse_line(source,
                line,
                "row " + expected + " has " + std::to_string(words.size() - 1) +
                    " cells; expected " + std::to_string(matrix.names.size()) + ", one per column");
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    if (is_capability(words[1 + i])) {
      refuse_line(
          source,
          line,
          "\"" + words[1 + i] +
              "\" is of nvidia-smi topo -p2p, which tells whether GPUs reach each other, not over "
              "what; expected the matrix of nvidia-smi topo -m");
    }
    const auto cell = cell_of(words[1 + i]);
    if (!cell || (cell->path == Path::self) != (i == row)) {
      refuse_line(source,
                  line,
                  expected + " to " + matrix.names[i] + ": \"" + words[1 + i] + "\": expected " +
                      (i == row ? "X" : "NV#, PIX, PXB, PHB, NODE or SYS"));
    }
    if (i < row &&
        (matrix.rows[i][row].path != cell->path || matrix.rows[i][row].links != cell->links)) {
      refuse_line(source,
                  line,
                  expected + " to " + matrix.names[i] + " is " + words[1 + i] +
                      ", but not the way back; expected a symmetric matrix");
    }
    cells.push_back(*cell);
  }
  matrix.rows.push_back(std::move(cells));
  const std::size_t next = 1 + matrix.names.size();
  const bool has_affinity = words.size() > next && words[next] != "N/A";
  matrix.affinities.push_back(has_affinity ? words[next] : "");
}

}  // namespace

Matrix parse_matrix(std::string_view text, std::string_view source) {
  Matrix matrix;
  int line = 0;
  for (const std::string_view one : text_lines(text)) {
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
      read_row(source, line, words, matrix);
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
  const std::vector<std::string_view> lines = text_lines(text);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.find("GPU") != line.npos && is_header(text_words(line));
  });
}

}  // namespace titer
