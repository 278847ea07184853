#include "cell_nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "titer/input/words.hpp"

namespace titer {
namespace {

/// Of one NIC, in Gbps: "NDR400", "HDR", "200 Gb/s", "400G", or the number that a text begins with.
/// Numbers of generations, as in "ConnectX-7" and "Slingshot-11", are none.
std::optional<std::int64_t> rate_in(const std::string& text) {
  static const std::map<std::string, std::int64_t> generations = {
      {"xdr", 800}, {"ndr", 400}, {"hdr", 200}, {"edr", 100}, {"fdr", 56}, {"opa", 100}};
  static const std::regex stated(
      R"(\b(xdr|ndr|hdr|edr|fdr|opa|omni-?path)[ -]?(\d{2,3})?|^(\d{2,4})|\b(\d{1,4}) ?(?:gb|g\b))");
  std::smatch match;
  if (!std::regex_search(text, match, stated)) {
    return std::nullopt;
  }
  for (const std::size_t group : {2U, 3U, 4U}) {
    if (match[group].matched) {
      return std::stoll(match[group]);
    }
  }
  const auto known = generations.find(match[1]);
  return known == generations.end() ? generations.at("opa") : known->second;
}

/// Of a count and of what is said of one.
std::optional<Nics> counted(std::int64_t count, const std::string& one) {
  const auto rate = rate_in(one);
  return rate && *rate > 0 && count > 0 ? std::optional(Nics{.count = count, .gbps = *rate})
                                        : std::nullopt;
}

/// "8x NDR400 IB per node", "4x100 Gb/s RoCE per node", "8x2x100 Gb/s".
std::optional<Nics> counted_before(const std::string& text) {
  static const std::regex before(R"((?:^|[ (:;,])(\d{1,3}) ?x ?(?:(\d)x)?(.*))");
  std::smatch match;
  if (!std::regex_search(text, match, before)) {
    return std::nullopt;
  }
  const std::int64_t ports = match[2].matched ? std::stoll(match[2]) : 1;
  return counted(std::stoll(match[1]) * ports, match[3]);
}

/// "NDR400 x8", "InfiniBand NDR 400 (8 per node)", "8 ConnectX-7 NICs (400 Gb/s each)"; lanes of
/// PCIe are none.
std::optional<Nics> counted_behind(const std::string& text) {
  static const std::regex behind(
      R"( x ?(\d{1,2})\b(?! ?g)|\((\d{1,2}) per (?:node|host|server|vm)\))");
  static const std::regex named(
      R"((?:^|[ (:;,])(\d{1,2}) (?:[\w-]+ ){0,2}(?:nic|hca|rail|adapter|card)s?\b)");
  std::smatch match;
  const bool has_lanes = text.find("pcie") != std::string::npos;
  if (!has_lanes && std::regex_search(text, match, behind)) {
    const std::string count = match[1].matched ? match[1] : match[2];
    return counted(std::stoll(count), match.prefix().str() + match.suffix().str());
  }
  return std::regex_search(text, match, named)
             ? counted(std::stoll(match[1]), match.prefix().str() + match.suffix().str())
             : std::nullopt;
}

/// Whether it says what each device has: "400 Gb/s per GPU", "NDR400/GPU".
bool is_of_device(const std::string& text) {
  static const std::regex device("(?:/| per |one per )(?:gpu|device|chip|accelerator)");
  static const std::regex node("(?:/| per )(?:node|host|server|vm|instance|tray)");
  return std::regex_search(text, device) && !std::regex_search(text, node);
}

/// "1600 Gb/s per node RoCE", "3.2 Tbps", which no NIC alone has, "10 Gbps Ethernet", of which no
/// node has several.
std::optional<Nics> summed(const std::string& text, std::int64_t devices) {
  constexpr double of_one_node = 1000;  // Gbps
  constexpr double of_one_nic = 50;
  constexpr double least = 25;  // of a NIC for each device
  static const std::regex rated(
      R"((?:^|[ (:;,])(\d{1,6}(?:\.\d+)?) ?([gt])(?:b/s|bps|bit/s)(?:[^;]* per (node|vm|host|instance|server|tray))?)");
  std::smatch match;
  if (!std::regex_search(text, match, rated)) {
    return std::nullopt;
  }
  const double rate = (match[2] == "t" ? 1000.0 : 1.0) * std::stod(match[1]);
  if (rate < 1 || (!match[3].matched && rate > of_one_nic && rate < of_one_node)) {
    return std::nullopt;
  }
  const double share = rate / static_cast<double>(devices);
  return share < least ? Nics{.count = 1, .gbps = std::llround(rate)}
                       : Nics{.count = devices, .gbps = static_cast<std::int64_t>(share)};
}

/// In small letters, bytes per second as bits, and with the letter for the sign of multiplication.
std::string plain_link(std::string text) {
  static const std::regex sign(" ?\u00d7 ?");
  static const std::regex in_bytes(R"((\d{1,6}(?:\.\d+)?) ?([GT])i?(?:B/s|Bps))");
  text = std::regex_replace(text, sign, "x");
  std::smatch match;
  while (std::regex_search(text, match, in_bytes)) {
    text = match.prefix().str() +
           fmt::format("{:g} {}b/s", 8 * std::stod(match[1]), lower(match[2].str())) +
           match.suffix().str();
  }
  return lower(text);
}

}  // namespace

std::optional<Nics> cell_nics(const std::string& stated, std::int64_t devices) {
  const std::string text = plain_link(stated);
  auto nics = counted_before(text);
  nics = nics ? nics : counted_behind(text);
  if (is_of_device(text)) {
    nics = nics ? nics : counted(1, text);
    if (nics && nics->count < devices) {
      nics->count *= devices;
    }
  }
  return nics ? nics : summed(text, devices);
}

}  // namespace titer
