// The options of questions about training over time.
#include <algorithm>
#include <array>

#include "titer/ask/campaign.hpp"
#include "titer/ask/option.hpp"
#include "titer/campaign/capacity.hpp"
#include "titer/campaign/course.hpp"
#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

/// A watt is the unit of bare numbers: "450,-" is "450 W,-".
std::string watts_of(std::string_view values) {
  std::string text;
  while (!values.empty()) {
    const std::string one(values.substr(0, values.find(',')));
    const bool is_bare = one != "-" && !parse<Watts>(one);
    text += (text.empty() ? "" : ",") + one + (is_bare ? " W" : "");
    values.remove_prefix(std::min(values.size(), one.size() + 1));
  }
  return text;
}

constexpr std::string_view kPower = "power";

/// What an option says goes to a path of what is asked. Keys of a scenario read no texts for
/// numbers.
void put_at(std::string_view path, const OptionWords& own, Reader& in, Asked& asked) {
  const Value* value = in.raw(own.key);
  if (value == nullptr || value->kind == Value::Kind::null) {
    return;
  }
  const bool is_text = value->kind == Value::Kind::text;
  const std::string words = is_text ? value->text : to_json(*value, 0);
  if (is_text && path.starts_with("training.")) {
    asked.changes.push_back(parse_assignment(std::string(path) + "=" + words, dashed(own)));
    return;
  }
  asked.changes.push_back({.path = std::string(path),
                           .value = path == kPower ? Value(watts_of(words)) : *value,
                           .source = dashed(own) + " " + words});
}

constexpr std::string_view kOwnKey;

/// At the path of its own name, or at another.
template <auto Member, const std::string_view& path = kOwnKey, class R = fields::ObjectOf<Member>>
constexpr Option<R> value(std::string_view key, std::string_view type, std::string_view about) {
  return {.words = {.key = key, .type = type, .about = about},
          .read = [](const OptionWords& own, Reader& in, const Document&, R& request) {
            put_at(path.empty() ? own.key : path, own, in, request.*Member);
          }};
}

constexpr std::array<const DataKind*, 2> kCapacityOrRun = {&kCapacityData, &kRunData};
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
    value<kQuestion>("tokens", "COUNT", "to train on, such as 15T or 300B"),
    value<kQuestion>(
        "deadline", "TIME", "such as 60d, 8w or \"2 months\" (of 30 days; a year has 365)"),
    value<kQuestion>(
        "chance",
        "SHARE",
        "of the runs that keep the deadline, such as 90%; otherwise it is kept on average"),
    value<kQuestion>(
        "budget",
        "AMOUNT",
        "such as 10M, in the currency of the answer: dollars, the prices' or --currency's"),
    value<kQuestion>(
        "devices",
        "LIST",
        "numbers to try, such as 1024,2048; otherwise all that share the batch out evenly"),
    value<kQuestion>(
        "batch_slack",
        "SHARE",
        "by how much the batch may be another where devices do not share it out, such as 5%"),
    value<kQuestion>("prices", "NAME", "of devices (titer list prices), or a file")
        .file(kOnly<kPriceData>),
    value<kQuestion>(
        "against",
        "NAME",
        "other prices of the same devices, as of ones that are bought: what they cost, "
        "and from how much use on buying is cheaper than renting")
        .file(kOnly<kPriceData>),
    value<kQuestion>("currency", "NAME=RATE@DATE", kCurrencyAbout),
    value<kQuestion>(
        "grid", "NAME", "where the electricity comes from (titer list grids), or a file")
        .file(kOnly<kGridData>),
    value<kQuestion>(
        "reliability", "NAME", "how often what fails (titer list reliabilities), or a file")
        .file(kOnly<kReliabilityData>),
    value<kQuestion>("dollars_per_hour",
                     "X",
                     "rent of a device, always in dollars, in place of the price file's"),
    value<kQuestion, kPower>("watts", "X", "rated power of a device, in place of its chip's"),
    options::flag<&CapacityRequest::search>(
        "search",
        "for each number of devices the best of all plans, not the scenario's with as many "
        "replicas")};

constexpr std::string_view kModels = "models";
constexpr std::string_view kClusters = "clusters";
constexpr std::string_view kStacks = "stacks";
constexpr std::string_view kDeadlines = "deadlines";
constexpr std::string_view kBatch = "training.global_batch";
constexpr std::string_view kSequence = "training.sequence";
constexpr std::string_view kPrecision = "training.precision";

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
    value<kTable, kModels>("model", "A,B", "models (titer list models), or files")
        .file(kOnly<kModelData>),
    value<kTable, kClusters>("cluster", "X,Y", "clusters (titer list clusters), or files")
        .file(kOnly<kClusterData>),
    value<kTable, kStacks>(
        "stack",
        "NAMES",
        "training software: one for all, or one for each cluster; otherwise the run's, without a "
        "run megatron-core, or what there is for the cluster's chips")
        .file(kOnly<kStackData>),
    value<kTable>("tokens", "COUNT", "to train on, such as 10T or 300B"),
    value<kTable, kDeadlines>(
        "deadline", "TIMES", "such as 60d or 60d,12w; several are rows of their own"),
    value<kTable>("chance", "SHARE", "of the runs that keep it, such as 90%; otherwise on average"),
    value<kTable>("devices",
                  "LIST",
                  "numbers to try, such as 1024,2048; otherwise the fewest that keep the deadline "
                  "are found"),
    value<kTable>("budget", "AMOUNT", "such as 10M, in the currency of the answer"),
    value<kTable, kBatch>("batch", "N", "sequences of a step; otherwise 16 Mi tokens"),
    value<kTable, kSequence>("sequence", "N", "tokens of a sequence; otherwise 8192 or fewer"),
    value<kTable, kPrecision>("precision", "TYPE", "of products: bf16 (usual), fp8, …"),
    value<kTable>("batch_slack", "SHARE", "by how much the batch may be another, such as 5%"),
    value<kTable>("prices", "NAME", "of devices (titer list prices), or a file")
        .file(kOnly<kPriceData>),
    value<kTable>(
        "dollars_per_hour",
        "X,…",
        "rent of a device in place of the prices': one, or one for each cluster (- for theirs)"),
    value<kTable, kPower>(
        "watts", "X,…", "rated power of a device in place of its chip's, likewise"),
    value<kTable>("currency", "NAME=RATE@DATE", kCurrencyAbout),
    value<kTable>("grid", "NAME", "where the electricity comes from (titer list grids), or a file")
        .file(kOnly<kGridData>),
    value<kTable>("reliability", "NAME", "what fails how often (titer list reliabilities)")
        .file(kOnly<kReliabilityData>),
    options::flag<&CompareRequest::search>(
        "search", "the best of all plans, though there is a RUN: otherwise its plan is scaled"),
    options::text<&CompareRequest::sort>(
        "sort", "FIGURE", "days, dollars, devices, energy or carbon: least first"),
    options::text<&CompareRequest::best_of>(
        "best_of",
        "KIND",
        "model or cluster: of each the best row alone, by --sort (otherwise by days)")};

constexpr std::array kCourseOptions = {
    options::asked<&CourseRequest::course>(
        "course", "COURSE", "a course file, or a shipped one (titer list courses)")
        .needed()
        .first()
        .file(kOnly<kCourseData>),
    options::changes<&CourseRequest::course>(
        "put a value at a path of every scenario, such as plan.micro_batch=4, or of the course, "
        "such as rounds.clients=100; may be repeated"),
    options::choice<&CourseRequest::fidelity, kFidelities>(
        "fidelity",
        "NAME",
        "closed (closed form), event (event engine) or network (events whose transfers share the "
        "links of the cluster)")
        .or_else("closed")};

}  // namespace

std::span<const Option<CapacityRequest>> capacity_options() { return kCapacityOptions; }
std::span<const Option<CompareRequest>> compare_options() { return kCompareOptions; }
std::span<const Option<CourseRequest>> course_options() { return kCourseOptions; }

}  // namespace titer
