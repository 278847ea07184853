#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/collectives/catalogue.hpp"
#include "titer/input/read_document.hpp"
#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/search/search.hpp"
#include "titer/topology/families.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// Name and title of every shipped file of a kind.
template <const DataKind& kind>
std::vector<Row> titles() {
  std::vector<Row> rows = {{std::string(kind.name), "title"}};
  for (const std::string& name : shipped_names(kind)) {
    const Document document = load_data(kind, name);
    const Value* title = document.at("title");
    rows.push_back({name, title == nullptr ? "" : title->text});
  }
  return rows;
}

std::vector<Row> models() {
  std::vector<Row> rows = {{"model", "title", "parameters", "layers", "hidden", "heads"}};
  for (const std::string& name : shipped_names(kModelData)) {
    const Model model = read_document(load_data(kModelData, name), read_model);
    const Transformer* transformer = model.if_transformer();
    const bool wide = transformer != nullptr;
    rows.push_back({name,
                    model.title(),
                    std::to_string(parameters(model)),
                    std::to_string(model.layers()),
                    wide ? std::to_string(transformer->hidden) : "",
                    wide ? std::to_string(transformer->heads) : ""});
  }
  return rows;
}

std::vector<Row> chips() {
  std::vector<Row> rows = {{"chip", "title", "data types", "memory", "memory bandwidth"}};
  for (const std::string& name : shipped_names(kChipData)) {
    const Chip chip = read_document(load_data(kChipData, name), read_chip);
    rows.push_back({name,
                    chip.title,
                    data_type_names(chip),
                    format(chip.memory.capacity),
                    format(chip.memory.bandwidth)});
  }
  return rows;
}

std::vector<Row> topologies() {
  std::vector<Row> rows = {{"topology", "title", "family", "devices"}};
  for (const std::string& name : shipped_names(kTopologyData)) {
    const NamedTopology topology = read_document(load_data(kTopologyData, name), read_topology);
    rows.push_back({name,
                    topology.title,
                    std::string(family_name(topology.family)),
                    std::to_string(build(topology.family).devices)});
  }
  return rows;
}

std::vector<Row> families() {
  std::vector<Row> rows = {{"family", "is"}};
  for (const TopologyFamily* family : topology_families()) {
    rows.push_back({std::string(family->name), std::string(family->about)});
  }
  return rows;
}

std::vector<Row> algorithms() {
  std::vector<Row> rows = {{"collective", "algorithm", "time", "source"}};
  for (const AlgorithmEntry& info : algorithm_catalogue()) {
    rows.push_back({std::string(name_of(info.collective)),
                    std::string(info.name),
                    std::string(info.formula),
                    std::string(info.source)});
  }
  return rows;
}

std::vector<Row> schedules() {
  std::vector<Row> rows = {{"schedule", "bubble", "source"}};
  const auto add = [&](const Schedule& schedule) {
    rows.push_back({std::string(name(schedule)),
                    std::string(bubble_formula(schedule)),
                    std::string(source(schedule))});
  };
  for (const ScheduleEntry* entry : schedule_entries()) {
    add(Schedule(*entry));
  }
  add(ListedSchedule());
  return rows;
}

std::vector<Row> formulas() {
  return {{"formula", "time of an iteration"},
          {"titer", "every kernel, collective and pipeline pass by itself (titer explain)"},
          {"e7", "T_comp + T_TP + T_PP + T_DP + T_bubble, the seeds' E7 to E9; needs utilization"}};
}

constexpr std::array<Choice<std::vector<Row> (*)()>, 19> kListings = {{
    {"models", models},
    {"chips", chips},
    {"clusters", titles<kClusterData>},
    {"networks", titles<kNetworkData>},
    {"stacks", titles<kStackData>},
    {"topologies", topologies},
    {"families", families},
    {"algorithms", algorithms},
    {"schedules", schedules},
    {"formulas", formulas},
    {"runs", titles<kRunData>},
    {"sweeps", titles<kSweepData>},
    {"searches", titles<kSearchData>},
    {"courses", titles<kCourseData>},
    {"capacities", titles<kCapacityData>},
    {"reports", titles<kReportData>},
    {"prices", titles<kPriceData>},
    {"grids", titles<kGridData>},
    {"reliabilities", titles<kReliabilityData>},
}};

std::string view(Format format, const std::vector<Row>& rows) {
  if (format == Format::text) {
    return text_table(rows, std::string(rows.front().size(), 'l'), "");
  }
  if (format == Format::csv) {
    std::string text;
    for (const Row& row : rows) {
      text += csv_line(row);
    }
    return text;
  }
  Value list = Value::make_array();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Value item = Value::make_object();
    for (std::size_t c = 0; c < rows[i].size(); ++c) {
      item.add(rows.front()[c], Value(rows[i][c]));
    }
    list.push(std::move(item));
  }
  return to_json(list) + "\n";
}

std::vector<Row> kinds() {
  std::vector<Row> rows = {{"kind", "entries"}};
  for (const auto& listing : kListings) {
    rows.push_back({std::string(listing.name), std::to_string(listing.value().size() - 1)});
  }
  return rows;
}

struct ListOptions {
  std::string what;
  Format format = Format::text;
};

int list_command(const ListOptions& options) {
  print(view(options.format,
             options.what.empty() ? kinds() : chosen("list", options.what, kListings)()));
  return kSuccess;
}

}  // namespace

Command add_list(CLI::App& program) {
  CLI::App* app = program.add_subcommand("list", "Show what is shipped and what is known");
  const auto names =
      each_of(kListings, [](const auto& listing) { return std::string(listing.name); });
  const std::string what = listed_to_last(names, " or ") + "; nothing: how many there are of each";
  return own_command(*app,
                     std::array{options::text<&ListOptions::what>("what", "WHAT", what).first(),
                                format_option<&ListOptions::format, kFormats>()},
                     list_command);
}

}  // namespace titer
