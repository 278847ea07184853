#pragma once
// The nodes of one rank's Chakra trace, in either of its forms: protobuf messages after their
// lengths (.et), or the JSON that its feeder takes, {"workload_graph": [{"Id": 1, …}, …]}.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

struct ChakraRecord {
  std::uint64_t id = 0;
  std::uint64_t type = 0;      // see wire_format.hpp
  std::uint64_t duration = 0;  // microseconds
  std::string name;
  std::string group;                                          // of ranks, "pg_name"
  std::map<std::string, std::uint64_t, std::less<>> numbers;  // attributes, flags among them
  std::vector<std::uint64_t> control;                         // ids of what it waits for
  std::vector<std::uint64_t> data;

  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view attribute) const {
    const auto known = numbers.find(attribute);
    return known == numbers.end() ? std::nullopt : std::optional(known->second);
  }
};

/// Throws InputError where the file is no trace.
void read_chakra_records(const std::filesystem::path& path,
                         const std::function<void(ChakraRecord)>& take);

/// Whether a file that begins with a brace holds nodes.
[[nodiscard]] bool is_chakra_json(const std::filesystem::path& path);

}  // namespace titer
