// What the page does without: libraries that Debian has compiled for machines alone. Their files of
// the library are left out of this build; who comes here is told so.
#include "titer/input/reader.hpp"
#include "titer/input/yaml.hpp"
#include "titer/topology/import/imports.hpp"
#include "titer/trace/trace.hpp"
#include "trace/trace_file.hpp"

namespace titer {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string_view what) {
  throw InputError(std::string(where) + (where.empty() ? "" : ": ") + "expected no " +
                   std::string(what) + ": the page cannot; the program `titer` can");
}

}  // namespace

// yaml-cpp
Document parse_yaml(std::string_view /*text*/, std::string source_name) {
  refuse(source_name, "YAML");
}

// pugixml
bool is_xml(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '<';
}
Imported import_nccl_xml(std::string_view /*text*/,
                         std::string_view source,
                         const LinkFigures& /*figures*/,
                         const XmlChoices& /*choices*/) {
  refuse(source, "XML");
}

// zlib and SQLite
void PieceFile::Close::operator()(void* /*file*/) const {}
PieceFile::PieceFile(const std::filesystem::path& path) { refuse(path.string(), "trace"); }
std::size_t PieceFile::read(std::span<char> /*piece*/) { refuse(name_, "trace"); }
std::string read_pieces(const std::filesystem::path& path, std::size_t /*most*/) {
  refuse(path.string(), "trace");
}
Trace load_nsight_trace(const std::filesystem::path& path) { refuse(path.string(), "trace"); }

}  // namespace titer
