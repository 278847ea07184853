// What Nsight Systems saw, as `nsys export --type sqlite` writes it, and nvprof before it. Their
// tables come and go with what was traced and with their releases, so each is asked for the columns
// that it has.

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/trace/trace.hpp"
#include "titer/units/lists.hpp"
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
  [[nodiscard]] bool is_integer(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
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
    read_names();
    read_kernels("CUPTI_ACTIVITY_KIND_KERNEL");
    read_kernels("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
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
    trace.format = is_nvprof_ ? "nvprof" : "Nsight Systems";
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
    std::string condition = {};
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
    const auto [more, condition] = further == nullptr ? Further{} : further(has);
    Rows rows(database_.get(),
              source_,
              fmt::format("SELECT {}{} FROM {} t{}", places(has), more, table, condition));
    while (rows.next()) {
      facts_.clear();
      facts_.name = name(rows);
      put(rows);
    }
  }

  /// Texts are written once, and told by number elsewhere.
  void read_names() {
    is_nvprof_ = !columns("StringTable").empty();
    if (!is_nvprof_ && columns("StringIds").empty()) {
      return;
    }
    Rows rows(
        database_.get(),
        source_,
        is_nvprof_ ? "SELECT _id_, value FROM StringTable" : "SELECT id, value FROM StringIds");
    while (rows.next()) {
      names_.emplace(rows.integer(0), rows.text(1));
    }
  }
  /// The text of a column, or that of its number; "" where there is none.
  [[nodiscard]] std::string named(const Rows& rows, int column) const {
    if (!rows.is_integer(column)) {
      return rows.text(column);
    }
    const auto found = names_.find(rows.integer(column));
    return found == names_.end() ? "" : found->second;
  }

  /// Kernels have a name with its types, one without and one as compilers write it; which of them
  /// are there differs between releases, and from kernel to kernel.
  void read_kernels(const std::string& table) {
    read_rows(
        table,
        [this](const Rows& rows) {
          for (int column = 5; column < 9; ++column) {
            if (std::string name = named(rows, column); !name.empty()) {
              return name;
            }
          }
          return std::string("kernel without a name");
        },
        [](const std::set<std::string>& has) {
          return Further{fmt::format(", {}, {}, {}, {}",
                                     column(has, "demangledName", "NULL"),
                                     column(has, "shortName", "NULL"),
                                     column(has, "mangledName", "NULL"),
                                     column(has, "name", "NULL"))};
        });
  }

  /// CUDA's kinds of copies: 1 to the device, 2 from it (3 and 4 to and from arrays of it, 11 and
  /// 12 of managed memory), 8 on it, 10 between two; 9 is of the host alone.
  void read_copies() {
    read_rows(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        [](const Rows& rows) {
          switch (rows.integer(5)) {
            case 1:
            case 3:
            case 11:
              return "Memcpy HtoD";
            case 2:
            case 4:
            case 12:
              return "Memcpy DtoH";
            case 10:
              return "Memcpy PtoP";
            default:
              return "Memcpy DtoD";
          }
        },
        [](const std::set<std::string>& has) {
          const std::string kind = column(has, "copyKind");
          return Further{", " + kind, " WHERE " + kind + " <> 9"};
        });
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
    auto stream = std::ranges::find(device.streams, name, &TraceStream::name);
    if (stream == device.streams.end()) {
      stream = device.streams.insert(stream, {.name = name, .busy = {}, .spans = 0});
    }
    stream->busy += Seconds::from_si(1e-9 * static_cast<double>(duration));
    ++stream->spans;
  }

  /// Ranges of NVTX whose names say so: "step 12", "iteration 3", "ProfilerStep#7"; of one thread,
  /// and by one name, the first that is any: others may lie inside.
  [[nodiscard]] std::vector<TraceStep> read_steps() const {
    std::vector<TraceStep> steps;
    const std::set<std::string> has = columns("NVTX_EVENTS");
    if (has.empty()) {
      return steps;
    }
    Rows rows(database_.get(),
              source_,
              fmt::format("SELECT {}, {}, {}, {}, {} FROM NVTX_EVENTS t ORDER BY 1, 2 DESC",
                          column(has, "start"),
                          column(has, "end", "NULL"),
                          column(has, "globalTid"),
                          column(has, "text", "NULL"),
                          column(has, "textId", "NULL")));
    std::optional<std::pair<std::int64_t, std::string>> first;
    while (rows.next()) {
      const std::string text = rows.is_null(3) ? named(rows, 4) : named(rows, 3);
      const std::string stem = step_stem(text);
      const bool ends = !rows.is_null(1) && rows.integer(1) > rows.integer(0);
      const std::pair<std::int64_t, std::string> own{rows.integer(2), stem};
      if (!ends || stem.empty() || own != first.value_or(own)) {
        continue;
      }
      first = own;
      steps.push_back({.name = text, .start = rows.integer(0), .end = rows.integer(1)});
    }
    for (std::size_t i = 1; i < steps.size(); ++i) {
      steps[i - 1].end = steps[i].start;  // each lasts until the next one begins
    }
    return steps;
  }

  /// What a range's name is without its number, if that is a step's; else "".
  static std::string step_stem(const std::string& text) {
    std::string low = lower(text);
    const std::size_t last = low.find_last_not_of("0123456789 :#=_-");
    low.resize(last == low.npos ? 0 : last + 1);
    constexpr std::array<std::string_view, 10> names = {"step",
                                                        "train_step",
                                                        "training_step",
                                                        "global_step",
                                                        "iteration",
                                                        "train_iteration",
                                                        "iter",
                                                        "train_iter",
                                                        "batch",
                                                        "profilerstep"};
    return includes(names, low) ? low : "";
  }

  /// By the table that tells the devices' names; until the middle of 2021 it was another.
  [[nodiscard]] std::string chip() const {
    for (const char* const table : {"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"}) {
      const std::set<std::string> has = columns(table);
      if (has.contains("name")) {
        const char* const order = has.contains("id") ? "id" : "1";
        Rows rows(database_.get(),
                  source_,
                  fmt::format("SELECT name FROM {} ORDER BY {} LIMIT 1", table, order));
        return rows.next() ? named(rows, 0) : "";
      }
    }
    return "";
  }

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::string source_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unordered_map<std::int64_t, std::string> names_;
  bool is_nvprof_ = false;
  std::map<DeviceKey, TraceDevice> devices_;
  SpanFacts facts_;
  TraceKinds kinds_;
  std::int64_t skipped_ = 0;
};

}  // namespace

Trace load_nsight_trace(const std::filesystem::path& path) { return NsightReader(path).read(); }

}  // namespace titer
