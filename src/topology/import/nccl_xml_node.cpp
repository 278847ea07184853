// A node as NCCL's XML tells of it, among the families of topologies.

#include <array>

#include "text_file.hpp"
#include "titer/topology/import/imports.hpp"

namespace titer {

std::span<const Field<NcclXmlNode>> NcclXmlNode::fields() {
  static constexpr auto& shared = kMachineFileFields<NcclXmlNode>;
  static constexpr std::array table = {
      shared[0],
      shared[1],
      shared[2],
      shared[3],
      titer::fields::integer<&XmlChoices::nvlinks, NcclXmlNode>(
          "nvlinks", {0, 1024}, "of every GPU to one switch, where the file tells none"),
      titer::fields::flag<&XmlChoices::accept_unknown, NcclXmlNode>(
          "accept_unknown", "leave out what the file holds and nothing here stands for")};
  return table;
}

void NcclXmlNode::check(Reader& /*in*/) {
  if (!file.empty()) {
    imported = import_nccl_xml(file_text(file), file, *this, *this);
  }
}

}  // namespace titer
