#pragma once
// What the importers of this room share: a file's text, and reading it as a family.

#include <string>

#include "titer/topology/imports.hpp"

namespace titer {

/// All of a file; one that cannot be read is an InputError naming it.
[[nodiscard]] std::string file_text(const std::string& path);

/// The keys "file", "link_bandwidth", "pcie_bandwidth" and "socket_bandwidth", and what `import`
/// makes of them. Throws InputError of its own for what is wrong in that file.
[[nodiscard]] Imported read_imported(Reader& in,
                                     Imported (*import)(std::string_view text,
                                                        std::string_view source,
                                                        const LinkFigures& figures));

}  // namespace titer
