#pragma once
// The XML of NCCL and RCCL, with what a user says of links that it does not hold.

#include "titer/topology/import/imports.hpp"

namespace titer {

/// As import_nccl_xml() without choices, which refuses a file that leaves the NVLinks to the
/// driver, and elements that are not known: they may be links. `used` also names what was taken of
/// the file's own links without being told.
[[nodiscard]] Imported import_nccl_xml(std::string_view text,
                                       std::string_view source,
                                       const LinkFigures& figures,
                                       const XmlChoices& choices);

}  // namespace titer
