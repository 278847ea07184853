#include "text_file.hpp"

#include "titer/input/text_file.hpp"

namespace titer {

std::string file_text(const std::string& path) {
  std::string text = read_text(path);
  if (text.empty()) {
    throw InputError(path + ": is empty; expected a file with a topology");
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
