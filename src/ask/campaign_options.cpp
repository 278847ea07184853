// The options of questions about training over time.
#include <fmt/format.h>

#include <array>

#include "learned.hpp"
#include "scenario_options.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/option.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// A watt is the unit of bare numbers: "450,-" is "450 W,-".
std::string watts_of(std::string_view values) {
  std::string text;
  for (const std::string_view one : divided(values, ",")) {
    const bool is_bare = one != "-" && !parse<Watts>(one);
    add_listed(text, std::string(one) + (is_bare ? " W" : ""), ",");
  }
  return text;
}

/// Rated power, at the path of that name.
template <auto Member, class R = fields::ObjectOf<Member>>
constexpr Option<R> watts(std::string_view type, std::string_view about) {
  return {.words = {.key = "watts", .type = type, .about = about},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            if (auto change = read_change("power", own, in)) {
              change->value = Value(watts_of(bare_text(change->value)));
              (request.*Member).changes.push_back(*std::move(change));
            }
          }};
}

constexpr std::array<const DataKind*, 2> kCapacityOrRun = {&kCapacityData, &kRunData};
/// Between commas, or several.
template <auto Member, class R = fields::ObjectOf<Member>>
constexpr Option<R> numbers(std::string_view key, std::string_view type, std::string_view about) {
  return {
      .words = {.key = key, .type = type, .about = about},
      .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
        for (const std::string& text : read_list(own, in).value_or(std::vector<std::string>())) {
          const Value number = parse_assignment("x=" + text, dashed(own)).value;
          if (number.kind != Value::Kind::number || number.number < 0) {
            throw InputError(
                fmt::format("{}: {}: expected numbers with commas between them, such as 1,2,4",
                            dashed(own),
                            text));
          }
          (request.*Member).push_back(number.number);
        }
      }};
}

constexpr std::string_view kCurrencyAbout =
    "of the answer, with what one of it is in dollars and when, such as EUR=1.08@2026-10";

constexpr auto kQuestion = &CapacityRequest::question;
constexpr std::array kCapacityOptions = {
    options::asked<kQuestion>("capacity",
                              "CAPACITY",
                              "a capacity file, a run file, or the name of a shipped one (titer "
                              "list capacities, titer list runs)")
        .needed()
        .first()
        .file(kCapacityOrRun),
    options::changes<kQuestion>(
        "put a value at a path of the scenario, such as plan.tensor=4, or of the question, such as "
        "growth.demand=3; may be repeated"),
    options::value<kQuestion>("tokens", "COUNT", "to train on, such as 15T or 300B"),
    options::value<kQuestion>(
        "deadline", "TIME", "such as 60d, 8w or \"2 months\" (of 30 days; a year has 365)"),
    options::value<kQuestion>(
        "chance",
        "SHARE",
        "of the runs that keep the deadline, such as 90%; otherwise it is kept on average"),
    options::value<kQuestion>(
        "budget",
        "AMOUNT",
        "such as 10M, in the currency of the answer: dollars, the prices' or --currency's"),
    options::value<kQuestion>(
        "devices",
        "LIST",
        "numbers to try, such as 1024,2048; otherwise all that share the batch out evenly"),
    options::value<kQuestion>(
        "batch_slack",
        "SHARE",
        "by how much the batch may be another where devices do not share it out, such as 5%"),
    options::value<kQuestion>("prices", "NAME", "of devices (titer list prices), or a file")
        .file(kOnly<kPriceData>),
    options::value<kQuestion>(
        "against",
        "NAME",
        "other prices of the same devices, as of ones that are bought: what they cost, "
        "and from how much use on buying is cheaper than renting")
        .file(kOnly<kPriceData>),
    options::value<kQuestion>("currency", "NAME=RATE@DATE", kCurrencyAbout),
    options::value<kQuestion>(
        "grid", "NAME", "where the electricity comes from (titer list grids), or a file")
        .file(kOnly<kGridData>),
    options::value<kQuestion>(
        "reliability", "NAME", "how often what fails (titer list reliabilities), or a file")
        .file(kOnly<kReliabilityData>),
    options::value<kQuestion>("dollars_per_hour",
                              "X",
                              "rent of a device, always in dollars, in place of the price file's"),
    watts<kQuestion>("X", "rated power of a device, in place of its chip's"),
    options::flag<&CapacityRequest::search>(
        "search",
        "for each number of devices the best of all plans, not the scenario's with as many "
        "replicas"),
    options::measured<&CapacityRequest::measured>()};

constexpr std::string_view kModels = "models";
constexpr std::string_view kClusters = "clusters";
constexpr std::string_view kStacks = "stacks";
constexpr std::string_view kDeadlines = "deadlines";

constexpr auto kTable = &CompareRequest::table;
constexpr std::array kCompareOptions = {
    options::asked<kTable>("run",
                           "RUN",
                           "a run file, or the name of a shipped run, which lends all that no "
                           "option says; or the file of a comparison")
        .first()
        .file(kOnly<kRunData>),
    options::changes<kTable>(
        "put a value at a path of all scenarios, such as training.optimizer=muon, or of the "
        "question, such as dollars_per_hour=2; may be repeated"),
    options::names<kTable, kModels>("model", "A,B", "models (titer list models), or files")
        .file(kOnly<kModelData>),
    options::names<kTable, kClusters>("cluster", "X,Y", "clusters (titer list clusters), or files")
        .file(kOnly<kClusterData>),
    options::names<kTable, kStacks>(
        "stack",
        "NAMES",
        "training software: one for all, or one for each cluster; otherwise the run's, without a "
        "run megatron-core, or what there is for the cluster's chips")
        .file(kOnly<kStackData>),
    options::value<kTable>("tokens", "COUNT", "to train on, such as 10T or 300B"),
    options::value<kTable, kDeadlines>(
        "deadline", "TIMES", "such as 60d or 60d,12w; several are rows of their own"),
    options::value<kTable>(
        "chance", "SHARE", "of the runs that keep it, such as 90%; otherwise on average"),
    options::value<kTable>(
        "devices",
        "LIST",
        "numbers to try, such as 1024,2048; otherwise the fewest that keep the deadline "
        "are found"),
    options::value<kTable>("budget", "AMOUNT", "such as 10M, in the currency of the answer"),
    options::value<kTable, options::kBatch>(
        "batch", "N", "sequences of a step; otherwise 16 Mi tokens"),
    options::value<kTable, options::kSequence>(
        "sequence", "N", "tokens of a sequence; otherwise 8192 or fewer"),
    options::value<kTable, options::kPrecision>(
        "precision", "TYPE", "of products: bf16 (usual), fp8, …"),
    options::value<kTable>(
        "batch_slack", "SHARE", "by how much the batch may be another, such as 5%"),
    options::value<kTable>("prices",
                           "NAMES",
                           "of devices (titer list prices), or files: one for all, or one for each "
                           "cluster; with --topology of switches and links")
        .file(kOnly<kPriceData>),
    options::value<kTable>(
        "dollars_per_hour",
        "X,…",
        "rent of a device in place of the prices': one, or one for each cluster (- for theirs)"),
    watts<kTable>("X,…", "rated power of a device in place of its chip's, likewise"),
    options::value<kTable>("currency", "NAME=RATE@DATE", kCurrencyAbout),
    options::value<kTable>(
        "grid", "NAME", "where the electricity comes from (titer list grids), or a file")
        .file(kOnly<kGridData>),
    options::value<kTable>("reliability", "NAME", "what fails how often (titer list reliabilities)")
        .file(kOnly<kReliabilityData>),
    options::flag<&CompareRequest::search>(
        "search", "the best of all plans, though there is a RUN: otherwise its plan is scaled"),
    options::text<&CompareRequest::sort>(
        "sort", "FIGURE", "days, dollars, devices, energy or carbon: least first"),
    options::text<&CompareRequest::best_of>(
        "best_of",
        "KIND",
        "model or cluster: of each the best row alone, by --sort (otherwise by days)"),
    options::list<&CompareRequest::topologies>(
        "topology",
        "T,U",
        "of one RUN its step on other networks (titer list topologies), or files")
        .as(OptionKind::text)
        .file(kOnly<kTopologyData>),
    numbers<&CompareRequest::oversubscriptions>(
        "oversubscription",
        "1,2,…",
        "likewise on fat trees and rails with so many links down for each up"),
    numbers<&CompareRequest::failed_links>(
        "failed_links",
        "0,10,…",
        "likewise with so many links that do not work (below 1: a share of them)")};

constexpr std::array kCourseOptions = {
    options::asked<&CourseRequest::course>(
        "course", "COURSE", "a course file, or a shipped one (titer list courses)")
        .needed()
        .first()
        .file(kOnly<kCourseData>),
    options::changes<&CourseRequest::course>(
        "put a value at a path of every scenario, such as plan.micro_batch=4, or of the course, "
        "such as rounds.clients=100; may be repeated"),
    options::fidelity<&CourseRequest::fidelity>().or_else("closed")};

}  // namespace

std::span<const Option<CapacityRequest>> capacity_options() { return kCapacityOptions; }
std::span<const Option<CompareRequest>> compare_options() { return kCompareOptions; }
std::span<const Option<CourseRequest>> course_options() { return kCourseOptions; }

}  // namespace titer
