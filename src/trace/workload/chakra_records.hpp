#pragma once
// The nodes of one rank's Chakra trace, in either of its forms: protobuf messages after their
// lengths (.et), or the JSON that its feeder takes, {"workload_graph": [{"Id": 1, …}, …]}. Messages
// are read by the wire format of protobuf itself, so that nothing is needed but the numbers of the
// fields that count.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace titer {

struct ChakraRecord {
  std::uint64_t id = 0;
  std::uint64_t type = 0;      // see wire_format.hpp
  std::uint64_t start = 0;     // microseconds
  std::uint64_t duration = 0;  // microseconds
  std::string name;
  std::string group;                                           // of ranks, "pg_name"
  std::vector<std::pair<std::string, std::uint64_t>> numbers;  // attributes, flags among them
  std::vector<std::uint64_t> control;                          // ids of what it waits for
  std::vector<std::uint64_t> data;

  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view attribute) const;
};

/// Throws InputError where the file is no trace.
void read_chakra_records(const std::filesystem::path& path,
                         const std::function<void(ChakraRecord)>& take);

/// Whether a file that begins with a brace holds nodes.
[[nodiscard]] bool is_chakra_json(const std::filesystem::path& path);

}  // namespace titer
