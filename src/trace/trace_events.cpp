// Trace events, one JSON object each, as PyTorch's profiler and XLA's trace viewer write them.

#include <filesystem>

#include "titer/input/json_stream.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/number_text.hpp"
#include "trace_file.hpp"
#include "trace_kinds.hpp"
#include "trace_lanes.hpp"

namespace titer {
namespace {

constexpr std::string_view kStepName = "ProfilerStep";

/// What an event's category says of it.
enum class EventClass : std::uint8_t { device, host_annotation, device_annotation, none, other };

EventClass class_of_event(std::string_view category) {
  struct Category {
    std::string_view name;
    EventClass is;
  };
  // Capital letters: PyTorch before 1.13.
  constexpr std::array known =
      std::to_array<Category>({{"kernel", EventClass::device},
                               {"gpu_memcpy", EventClass::device},
                               {"gpu_memset", EventClass::device},
                               {"Kernel", EventClass::device},
                               {"Memcpy", EventClass::device},
                               {"Memset", EventClass::device},
                               {"user_annotation", EventClass::host_annotation},
                               {"gpu_user_annotation", EventClass::device_annotation}});
  for (const Category& each : known) {
    if (each.name == category) {
      return each.is;
    }
  }
  return EventClass::other;
}

/// One event, as far as anything is done with it.
struct Event {
  char phase = 'X';
  EventClass is = EventClass::none;
  std::string process;
  std::string thread;
  std::optional<TraceTime> start;
  std::optional<TraceTime> duration;
  SpanFacts facts;
  std::string named;  // args.name of metadata

  void clear() {
    phase = 'X';
    is = EventClass::none;
    process.clear();
    thread.clear();
    start.reset();
    duration.reset();
    facts.clear();
    named.clear();
  }
};

class EventReader {
 public:
  explicit EventReader(JsonStream& json) : json_(json) {}

  /// The elements of an array that has begun.
  void read_events(TraceLanes& lanes) {
    for (JsonToken token = json_.next(); token != JsonToken::end_array; token = json_.next()) {
      if (token != JsonToken::begin_object) {
        json_.fail("expected an event, an object");
      }
      event_.clear();
      if (read_event()) {
        put(lanes);
      }
    }
  }

 private:
  /// Whether there is something in it for us; the rest of it is skipped otherwise.
  bool read_event() {
    while (json_.next() == JsonToken::key) {
      read_member(json_.text());
      if (event_.is == EventClass::other || (event_.phase != 'X' && event_.phase != 'M')) {
        json_.leave();
        return false;
      }
    }
    return true;
  }

  void read_member(std::string_view key) {
    if (key == "ph") {
      const std::string_view text = scalar();
      event_.phase = text.size() == 1 ? text.front() : '?';
    } else if (key == "cat") {
      event_.is = class_of_event(scalar());
    } else if (key == "name") {
      event_.facts.name.assign(scalar());
    } else if (key == "pid") {
      event_.process.assign(scalar());
    } else if (key == "tid") {
      event_.thread.assign(scalar());
    } else if (key == "ts") {
      event_.start = nanoseconds(scalar());
    } else if (key == "dur") {
      event_.duration = nanoseconds(scalar());
    } else if (key == "args") {
      read_arguments();
    } else {
      json_.skip();
    }
  }

  void read_arguments() {
    const JsonToken token = json_.next();
    if (token == JsonToken::begin_array) {
      json_.leave();
    }
    if (token != JsonToken::begin_object) {
      return;
    }
    while (json_.next() == JsonToken::key) {
      read_argument(json_.text());
    }
  }

  void read_argument(std::string_view key) {
    if (key == "Collective name") {
      event_.facts.collective.assign(scalar());
    } else if (key == "dtype") {
      event_.facts.data_type.assign(scalar());
    } else if (key == "In msg nelems") {
      event_.facts.sent = number_of_text<double>(scalar());
    } else if (key == "Out msg nelems") {
      event_.facts.received = number_of_text<double>(scalar());
    } else if (key == "Group size") {
      const std::optional<double> ranks = number_of_text<double>(scalar());
      event_.facts.ranks = ranks && *ranks >= 1 && *ranks < 1e9
                               ? std::optional(static_cast<int>(*ranks))
                               : std::nullopt;
    } else if (key == "hlo_category") {
      event_.facts.hlo_category.assign(scalar());
    } else if (key == "name") {
      event_.named.assign(scalar());
    } else {
      json_.skip();
    }
  }

  /// A value as it is written; "" for one that is no text, number or boolean.
  std::string_view scalar() {
    const JsonToken token = json_.next();
    if (token == JsonToken::begin_object || token == JsonToken::begin_array) {
      json_.leave();
    }
    return token == JsonToken::text || token == JsonToken::number ? json_.text()
                                                                  : std::string_view();
  }

  void put(TraceLanes& lanes) const {
    const Event& event = event_;
    if (event.phase == 'M') {
      lanes.name(event.process, event.thread, event.facts.name, event.named);
      return;
    }
    const bool timed = event.start && event.duration && *event.duration >= 0 &&
                       *event.duration < TraceSpan::longest;
    const bool annotates =
        event.is == EventClass::host_annotation || event.is == EventClass::device_annotation;
    if (annotates) {
      if (timed && event.facts.name.starts_with(kStepName)) {
        lanes.step({.name = event.facts.name,
                    .start = *event.start,
                    .end = *event.start + *event.duration},
                   event.is == EventClass::host_annotation ? "" : event.process);
      }
      return;
    }
    const LaneSort sort = event.is == EventClass::device ? LaneSort::kernels : LaneSort::unnamed;
    if (!timed) {
      lanes.skip(sort);
      return;
    }
    lanes.span({.process = event.process, .thread = event.thread, .sort = sort},
               *event.start,
               *event.duration,
               event.facts);
  }

  JsonStream& json_;
  Event event_;
};

/// Members of the outermost object that say what was profiled.
class HeadReader {
 public:
  HeadReader(JsonStream& json, Trace& trace) : json_(json), trace_(trace) {}

  /// Whether it is one of them; nothing has been read otherwise.
  bool read(std::string_view key) {
    if (key == "distributedInfo") {
      members([this](std::string_view member) {
        if (member == "rank" || member == "world_size") {
          (member == "rank" ? trace_.rank : trace_.world_size) = whole();
        } else {
          json_.skip();
        }
      });
      return true;
    }
    if (key == "deviceProperties") {
      devices();
      return true;
    }
    return false;
  }

 private:
  template <class Member>
  void members(const Member& member) {
    if (json_.next() != JsonToken::begin_object) {
      json_.fail("expected an object");
    }
    while (json_.next() == JsonToken::key) {
      member(json_.text());
    }
  }
  std::optional<int> whole() {
    const JsonToken token = json_.next();
    if (token != JsonToken::number || json_.number() < 0 || json_.number() > 1e9) {
      json_.fail("expected a count");
    }
    return static_cast<int>(json_.number());
  }
  void devices() {
    if (json_.next() != JsonToken::begin_array) {
      json_.fail("expected an array of devices");
    }
    for (JsonToken token = json_.next(); token != JsonToken::end_array; token = json_.next()) {
      if (token != JsonToken::begin_object) {
        json_.fail("expected a device, an object");
      }
      while (json_.next() == JsonToken::key) {
        const bool names = json_.text() == "name" && trace_.chip.empty();
        if (!names) {
          json_.skip();
        } else if (json_.next() == JsonToken::text) {
          trace_.chip = json_.text();
        }
      }
    }
  }

  JsonStream& json_;
  Trace& trace_;
};

void read_trace(JsonStream& json, Trace& trace, TraceLanes& lanes) {
  const JsonToken first = json.next();
  if (first == JsonToken::begin_array) {
    EventReader(json).read_events(lanes);
    static_cast<void>(json.next());
    return;
  }
  if (first != JsonToken::begin_object) {
    json.fail("expected an object with \"traceEvents\", or an array of events");
  }
  HeadReader head(json, trace);
  while (json.next() == JsonToken::key) {
    if (json.text() == "traceEvents") {
      if (json.next() != JsonToken::begin_array) {
        json.fail("traceEvents: expected an array of events");
      }
      EventReader(json).read_events(lanes);
    } else if (!head.read(json.text())) {
      json.skip();
    }
  }
  static_cast<void>(json.next());  // nothing may follow
}

}  // namespace

Trace load_trace_events(const std::filesystem::path& path) {
  PieceFile file(path);
  JsonStream json(file.source(), path.string());
  Trace trace;
  trace.source = path.string();
  TraceLanes lanes;
  read_trace(json, trace, lanes);
  lanes.finish(trace);
  return trace;
}

}  // namespace titer
