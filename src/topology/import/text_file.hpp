#pragma once
// What the importers of this room share: a file's text, and what a user adds to it.

#include <string>

#include "titer/topology/import/imports.hpp"

namespace titer {

/// All of a file; one that cannot be read is an InputError naming it.
[[nodiscard]] std::string file_text(const std::string& path);

/// The keys "link_bandwidth", "pcie_bandwidth" and "socket_bandwidth".
[[nodiscard]] LinkFigures read_link_figures(Reader& in);

}  // namespace titer
