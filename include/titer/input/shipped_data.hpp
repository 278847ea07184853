#pragma once
// The data that is shipped, and where the file of a name is.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"

namespace titer {

/// A kind of shipped data and its folder.
struct DataKind {
  std::string_view name;    // "model", as in messages
  std::string_view folder;  // "models", under the data root
  // Keys that a complete object has. One that lacks some, and whose "name" is shipped, means that
  // data with changes.
  std::array<std::string_view, 3> essential;
};
inline constexpr DataKind kModelData = {"model", "models", {"layers", "hidden", "attention"}};
inline constexpr DataKind kChipData = {"chip", "configs/chips", {"matrix", "memory", "attention"}};
inline constexpr DataKind kClusterData = {
    "cluster", "configs/clusters", {"chip", "node", "network"}};
inline constexpr DataKind kStackData = {
    "stack", "configs/stacks", {"dispatch", "gradient_precision", "tensor_overlap"}};
inline constexpr DataKind kTopologyData = {"topology", "topologies", {"name", "family", "family"}};
inline constexpr DataKind kNetworkData = {
    "network", "configs/networks", {"protocols", "protocols", "protocols"}};
inline constexpr DataKind kRunData = {"run", "configs/runs", {"model", "cluster", "training"}};
/// Questions, answered together by `titer report`.
inline constexpr DataKind kReportData = {
    "report", "configs/reports", {"title", "answers", "answers"}};
inline constexpr DataKind kSweepData = {"sweep", "configs/sweeps", {"scenario", "axes", "axes"}};
inline constexpr DataKind kSearchData = {
    "search", "configs/searches", {"scenario", "scenario", "scenario"}};
inline constexpr DataKind kCourseData = {
    "course", "configs/courses", {"scenario", "scenario", "scenario"}};
inline constexpr DataKind kCapacityData = {
    "capacity", "configs/capacity", {"scenario", "scenario", "scenario"}};
/// What of other programs' settings changes neither time nor memory of a step.
inline constexpr DataKind kSettingsData = {
    "settings", "configs/settings", {"about", "harmless", "harmless"}};

/// What is no run: the keys by which a file of it is told, which no run has, divided by blanks, and
/// the command that takes it.
struct NoRun {
  const DataKind* kind;  // nullptr: none is shipped
  std::string_view keys;
  std::string_view what;
  std::string_view command;
};
inline constexpr std::array<NoRun, 8> kNoRuns = {
    {{&kSweepData, "axes", "a sweep", "titer sweep"},
     {&kCapacityData, "tokens", "a question of capacity", "titer capacity"},
     {&kCourseData, "phases jobs rounds queries", "a course", "titer course"},
     {&kReportData, "answers", "a report", "titer report"},
     {nullptr, "question", "a question", "titer ask"},
     {&kSearchData, "scenario", "a search", "titer search"},
     {&kModelData, "layers blocks tables", "a model", "titer new --model"},
     {&kClusterData, "chip", "a cluster", "titer new --cluster"}}};

/// Where the shipped data is: $TITER_DATA, else beside the installed program, else the source tree.
/// Throws InputError when there is none.
[[nodiscard]] std::filesystem::path data_root();
/// The names of shipped data of a kind, sorted.
[[nodiscard]] std::vector<std::string> shipped_names(const DataKind& kind);
[[nodiscard]] bool is_shipped(const DataKind& kind, std::string_view name);

/// Whether the text means a file rather than a shipped name: it has a slash or ends in ".json".
[[nodiscard]] bool looks_like_file(std::string_view name_or_file);

/// Whether a text is what a file would hold, as JSON, in the place of the file's name.
[[nodiscard]] inline bool is_written_out(std::string_view text) { return text.starts_with('{'); }
/// Of such a text what it holds, and of another one itself. `source`: who gave it, in messages.
[[nodiscard]] Value written_or_named(std::string_view text, const std::string& source);

/// The end of a message about a name that is not there: the one it is likely to mean, those that it
/// is a part of, or `otherwise`.
[[nodiscard]] std::string suggested_name(std::string_view word,
                                         const std::vector<std::string>& names,
                                         std::string_view otherwise);

/// The file that a shipped name or a path means: one that is found from `folder` (of the file that
/// refers to it), else from the working folder. Throws InputError with suggestions for a name that
/// is not shipped.
[[nodiscard]] std::filesystem::path data_file(const DataKind& kind,
                                              std::string_view name_or_file,
                                              const std::filesystem::path& folder = {});

}  // namespace titer
