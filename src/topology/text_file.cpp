#include "text_file.hpp"

#include <fstream>
#include <iterator>

namespace titer {

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || text.empty()) {
    throw InputError(path + ": cannot be read, or is empty; expected a file with a topology");
  }
  return text;
}

Imported read_imported(Reader& in,
                       Imported (*import)(std::string_view text,
                                          std::string_view source,
                                          const LinkFigures& figures)) {
  const std::string path = in.file("file");
  const LinkFigures figures = {.link = in.maybe_quantity<BytesPerSecond>("link_bandwidth"),
                               .pcie = in.maybe_quantity<BytesPerSecond>("pcie_bandwidth"),
                               .socket = in.maybe_quantity<BytesPerSecond>("socket_bandwidth")};
  return path.empty() ? Imported{} : import(file_text(path), path, figures);
}

}  // namespace titer
