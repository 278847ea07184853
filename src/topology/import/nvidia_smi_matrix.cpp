#include "nvidia_smi_matrix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "titer/topology/import/imports.hpp"

namespace titer {
namespace {

[[noreturn]] void refuse(std::string_view source, int line, const std::string& what) {
  throw InputError(std::string(source) + ":" + std::to_string(line) + ": " + what);
}

/// The words of a line, without the terminal's underlining.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size() - 1);
    } else if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      if (!word.empty()) {
        words.push_back(std::move(word));
      }
      word.clear();
    } else {
      word += line[i];
    }
  }
  if (!word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

bool is_gpu(std::string_view name) {
  return name.size() > 3 && name.starts_with("GPU") &&
         name.find_first_not_of("0123456789", 3) == std::string_view::npos;
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
    refuse(source,
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
    refuse(source, line, "row \"" + words.front() + "\": expected the row of " + expected);
  }
  if (words.size() < 1 + matrix.names.size()) {
    refuse(source,
           line,
           "row " + expected + " has " + std::to_string(words.size() - 1) + " cells; expected " +
               std::to_string(matrix.names.size()) + ", one per column");
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    const auto cell = cell_of(words[1 + i]);
    if (!cell || (cell->path == Path::self) != (i == row)) {
      refuse(source,
             line,
             expected + " to " + matrix.names[i] + ": \"" + words[1 + i] + "\": expected " +
                 (i == row ? "X" : "NV#, PIX, PXB, PHB, NODE or SYS"));
    }
    if (i < row &&
        (matrix.rows[i][row].path != cell->path || matrix.rows[i][row].links != cell->links)) {
      refuse(source,
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
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string> words = words_of(text.substr(begin, end - begin));
    begin = end + 1;
    ++line;
    if (words.empty()) {
      continue;
    }
    if (matrix.names.empty()) {
      if (is_gpu(words.front())) {
        read_header(source, line, words, matrix);
      }
    } else if (matrix.rows.size() < matrix.names.size()) {
      read_row(source, line, words, matrix);
    }
  }
  if (matrix.names.empty()) {
    refuse(
        source, 1, "no header row that starts with GPU0; expected what nvidia-smi topo -m prints");
  }
  if (matrix.rows.size() < matrix.names.size()) {
    refuse(source, line, "the row of " + matrix.names[matrix.rows.size()] + " is missing");
  }
  return matrix;
}

bool is_nvidia_smi(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return false;
  }
  const auto words = words_of(text.substr(begin, text.find('\n', begin) - begin));
  return !words.empty() && is_gpu(words.front());
}

}  // namespace titer
