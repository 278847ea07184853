#include "text_file.hpp"

#include "titer/input/file.hpp"

namespace titer {

std::string file_text(const std::string& path) {
  std::string text = read_text(path);
  if (text.empty()) {
    throw InputError(path + ": is empty; expected a file with a topology");
  }
  return text;
}

LinkFigures read_link_figures(Reader& in) {
  return {.link = in.maybe_quantity<BytesPerSecond>("link_bandwidth"),
          .pcie = in.maybe_quantity<BytesPerSecond>("pcie_bandwidth"),
          .socket = in.maybe_quantity<BytesPerSecond>("socket_bandwidth")};
}

}  // namespace titer
