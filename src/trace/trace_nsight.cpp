// What Nsight Systems saw, as `nsys export --type sqlite` writes it. Its tables come and go with
// what was traced and with its releases, so each is asked for the columns that it has.

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/trace/trace.hpp"
#include "trace_kinds.hpp"

namespace titer {
namespace {

/// A query that is run row by row.
class Rows {
 public:
  Rows(sqlite3* database, const std::string& source, const std::string& query) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      throw InputError(source + ": " + sqlite3_errmsg(database) +
                       ": expected what nsys export --type sqlite writes");
    }
    statement_.reset(statement);
  }
  [[nodiscard]] bool next() { return sqlite3_step(statement_.get()) == SQLITE_ROW; }
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  [[nodiscard]] std::string text(int column) const {
    const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class NsightReader {
 public:
  explicit NsightReader(const std::filesystem::path& path) : source_(path.string()) {
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(source_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(database);
    if (code != SQLITE_OK) {
      throw InputError(source_ + ": cannot be read: " + sqlite3_errstr(code));
    }
  }

  Trace read() {
    read_kernels();
    read_copies();
    read_fills();
    read_graphs();
    if (devices_.empty()) {
      throw InputError(source_ +
                       ": no device did anything: expected a report of Nsight Systems with CUDA "
                       "traced (nsys profile --trace=cuda,nvtx)");
    }
    Trace trace;
    trace.source = source_;
    trace.format = "Nsight Systems";
    trace.chip = chip();
    const std::vector<TraceStep> steps = read_steps();
    for (auto& [key, device] : devices_) {
      device.steps = steps;
      device.steps_of_host = true;
      trace.devices.push_back(std::move(device));
    }
    trace.kinds = kinds_.take();
    trace.skipped = skipped_;
    return trace;
  }

 private:
  using DeviceKey = std::pair<std::int64_t, std::int64_t>;  // process, device

  [[nodiscard]] std::set<std::string> columns(const std::string& table) const {
    std::set<std::string> names;
    Rows rows(database_.get(), source_, "PRAGMA table_info(" + table + ")");
    while (rows.next()) {
      names.insert(rows.text(1));
    }
    return names;
  }

  /// The column, or what stands for it where the table has none.
  static std::string column(const std::set<std::string>& columns,
                            const std::string& name,
                            const std::string& otherwise = "0") {
    return columns.contains(name) ? "t.\"" + name + "\"" : otherwise;
  }

  /// Start, end, process, device and stream of a table.
  static std::string places(const std::set<std::string>& columns) {
    return fmt::format("{}, {}, {}, {}, {}",
                       column(columns, "start"),
                       column(columns, "end"),
                       column(columns, "globalPid"),
                       column(columns, "deviceId"),
                       column(columns, "streamId"));
  }

  /// What is read of a table's rows behind their places.
  struct Further {
    std::string columns = {};
    std::string joined = {};
  };

  /// The rows of a table, if the report has it, each with the name that `name` gives it.
  template <class Name>
  void read_rows(const std::string& table,
                 const Name& name,
                 Further (*further)(const std::set<std::string>& has) = nullptr) {
    const std::set<std::string> has = columns(table);
    if (has.empty()) {
      return;
    }
    const auto [more, joined] = further == nullptr ? Further{} : further(has);
    Rows rows(database_.get(),
              source_,
              fmt::format("SELECT {}{} FROM {} t{}", places(has), more, table, joined));
    while (rows.next()) {
      facts_.clear();
      facts_.name = name(rows);
      put(rows);
    }
  }

  void read_kernels() {
    read_rows(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        [](const Rows& rows) { return rows.text(5); },
        [](const std::set<std::string>& has) {
          const std::string name = column(has, "demangledName", column(has, "shortName", "-1"));
          return Further{", s.value", " LEFT JOIN StringIds s ON s.id = " + name};
        });
  }

  /// CUDA's kinds of copies: 1 to the device, 2 from it, 8 on it, 10 between two.
  void read_copies() {
    read_rows(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        [](const Rows& rows) {
          const std::int64_t kind = rows.integer(5);
          return kind == 1    ? "Memcpy HtoD"
                 : kind == 2  ? "Memcpy DtoH"
                 : kind == 10 ? "Memcpy PtoP"
                              : "Memcpy DtoD";
        },
        [](const std::set<std::string>& has) { return Further{", " + column(has, "copyKind")}; });
  }

  void read_fills() {
    read_rows("CUPTI_ACTIVITY_KIND_MEMSET", [](const Rows&) { return "Memset"; });
  }

  /// Graphs that were traced as a whole: their kernels are not told apart.
  void read_graphs() {
    read_rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", [](const Rows&) {
      return "CUDA graph as a whole (nsys profile --cuda-graph-trace=node tells its kernels)";
    });
  }

  void put(const Rows& row) {
    const TraceTime start = row.integer(0);
    const TraceTime duration = row.integer(1) - start;
    if (row.is_null(0) || row.is_null(1) || duration < 0 || duration >= TraceSpan::longest) {
      ++skipped_;
      return;
    }
    const DeviceKey key{row.integer(2), row.integer(3)};
    TraceDevice& device = devices_[key];
    if (device.name.empty()) {
      device.name = std::to_string(devices_.size() - 1);
    }
    device.spans.emplace_back(start, duration, kinds_.of(facts_));
    const std::string name = std::to_string(row.integer(4));
    auto stream = std::find_if(device.streams.begin(),
                               device.streams.end(),
                               [&](const TraceStream& one) { return one.name == name; });
    if (stream == device.streams.end()) {
      stream = device.streams.insert(stream, {.name = name, .busy = {}, .spans = 0});
    }
    stream->busy += Seconds::from_si(1e-9 * static_cast<double>(duration));
    ++stream->spans;
  }

  /// Ranges of NVTX whose names say so: "step 12", "iteration 3", "ProfilerStep#7"; of one thread,
  /// the first that has any.
  [[nodiscard]] std::vector<TraceStep> read_steps() const {
    std::vector<TraceStep> steps;
    const std::set<std::string> has = columns("NVTX_EVENTS");
    if (has.empty()) {
      return steps;
    }
    const bool by_id = has.contains("textId") && !columns("StringIds").empty();
    Rows rows(database_.get(),
              source_,
              fmt::format("SELECT {}, {}, {}, {} FROM NVTX_EVENTS t {} ORDER BY 1",
                          column(has, "start"),
                          column(has, "end"),
                          column(has, "globalTid"),
                          by_id ? "COALESCE(" + column(has, "text", "NULL") + ", s.value)"
                                : column(has, "text", "NULL"),
                          by_id ? "LEFT JOIN StringIds s ON s.id = t.\"textId\"" : ""));
    std::optional<std::int64_t> thread;
    while (rows.next()) {
      const std::string text = rows.text(3);
      const bool ends = !rows.is_null(1) && rows.integer(1) > rows.integer(0);
      if (!ends || !names_step(text) || rows.integer(2) != thread.value_or(rows.integer(2))) {
        continue;
      }
      thread = rows.integer(2);
      steps.push_back({.name = text, .start = rows.integer(0), .end = rows.integer(1)});
    }
    for (std::size_t i = 1; i < steps.size(); ++i) {
      steps[i - 1].end = steps[i].start;  // each lasts until the next one begins
    }
    return steps;
  }

  static bool names_step(const std::string& text) {
    std::string low = lower(text);
    const std::size_t last = low.find_last_not_of("0123456789 :#=_-");
    low.resize(last == low.npos ? 0 : last + 1);
    constexpr std::array<std::string_view, 6> names = {
        "step", "train_step", "training_step", "iteration", "iter", "profilerstep"};
    return std::find(names.begin(), names.end(), low) != names.end();
  }

  [[nodiscard]] std::string chip() const {
    if (!columns("TARGET_INFO_GPU").contains("name")) {
      return "";
    }
    Rows rows(database_.get(), source_, "SELECT name FROM TARGET_INFO_GPU ORDER BY id LIMIT 1");
    return rows.next() ? rows.text(0) : "";
  }

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string source_;
  std::unique_ptr<sqlite3, Close> database_;
  std::map<DeviceKey, TraceDevice> devices_;
  SpanFacts facts_;
  TraceKinds kinds_;
  std::int64_t skipped_ = 0;
};

}  // namespace

Trace load_nsight_trace(const std::filesystem::path& path) { return NsightReader(path).read(); }

}  // namespace titer
