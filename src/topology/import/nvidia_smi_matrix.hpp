#pragma once
// The matrix that `nvidia-smi topo -m` prints: a header row of names, a row of codes per name, then
// the affinities; a legend follows.

#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// How two entries of the matrix are joined, near to far.
enum class Path { self, nvlink, pix, pxb, phb, node, sys };

struct Cell {
  Path path = Path::self;
  int links = 0;  // of NVLink
};

struct Matrix {
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> affinities;  // "" where there is none
  int devices = 0;                      // the names that are GPUs; they come first
};

/// Throws InputError with the line of what is malformed.
[[nodiscard]] Matrix parse_matrix(std::string_view text, std::string_view source);

}  // namespace titer
