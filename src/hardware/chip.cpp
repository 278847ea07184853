#include "titer/hardware/chip.hpp"

#include "titer/input/reader.hpp"

namespace titer {
namespace {

template <class Q>
Q noted_quantity(Reader& in, std::string_view key, EvidenceList& evidence, std::string dotted_key) {
  const Q value = in.quantity<Q>(key);
  if (in.has(key)) {
    evidence.note(in, key, std::move(dotted_key));
  }
  return value;
}

template <class Q>
std::optional<Q> noted_maybe(Reader& in, std::string_view key, EvidenceList& evidence) {
  const auto value = in.maybe_quantity<Q>(key);
  if (value) {
    evidence.note(in, key, std::string(key));
  }
  return value;
}

double noted_share(Reader& in, std::string_view key, EvidenceList& evidence, std::string dotted) {
  const double value = in.number(key, 1e-6, 1.0);
  if (in.has(key)) {
    evidence.note(in, key, std::move(dotted));
  }
  return value;
}

MatrixRate read_matrix_rate(Reader in, const std::string& path, EvidenceList& evidence) {
  MatrixRate rate;
  rate.peak = noted_quantity<FlopsPerSecond>(in, "peak", evidence, path + ".peak");
  rate.plateau = noted_share(in, "plateau", evidence, path + ".plateau");
  rate.saturation = noted_quantity<Flops>(in, "saturation", evidence, path + ".saturation");
  rate.grade = evidence.grade(path + ".plateau");
  in.finish();
  return rate;
}

void read_matrix(Reader& in, Chip& chip) {
  Reader matrix = in.object("matrix");
  bool any = false;
  for (const Choice<DataType>& type : kDataTypes) {
    // Asked for even when absent, so that finish() can suggest it for a misspelt type.
    if (auto rate = matrix.maybe_object(type.name)) {
      any = true;
      chip.matrix[static_cast<std::size_t>(type.value)] =
          read_matrix_rate(*std::move(rate), "matrix." + std::string(type.name), chip.evidence);
    }
  }
  if (!any && in.has("matrix")) {
    in.fail("matrix", "expected the rate of at least one data type");
  }
  matrix.finish();
}

MemoryTier read_memory(Reader in, EvidenceList& evidence) {
  MemoryTier memory;
  memory.capacity = noted_quantity<Bytes>(in, "capacity", evidence, "memory.capacity");
  memory.bandwidth = noted_quantity<BytesPerSecond>(in, "bandwidth", evidence, "memory.bandwidth");
  memory.efficiency = noted_share(in, "efficiency", evidence, "memory.efficiency");
  memory.grade = evidence.grade("memory.efficiency");
  in.finish();
  return memory;
}

/// The figures of one object, noted under its path.
class Figures {
 public:
  Figures(Reader& in, std::string path, EvidenceList& evidence)
      : in_(in), path_(std::move(path)), evidence_(evidence) {}

  [[nodiscard]] double number(std::string_view key, double least, double most) {
    const double value = in_.number(key, least, most);
    note(key);
    return value;
  }
  template <class Q>
  [[nodiscard]] Q quantity(std::string_view key) {
    return noted_quantity<Q>(in_, key, evidence_, path_ + std::string(key));
  }
  void note(std::string_view key) {
    if (in_.has(key)) {
      evidence_.note(in_, key, path_ + std::string(key));
    }
  }
  [[nodiscard]] Grade grade(std::string_view key) const {
    return evidence_.grade(path_ + std::string(key));
  }

 private:
  Reader& in_;
  std::string path_;
  EvidenceList& evidence_;
};

Tiling read_tiling(Reader in, EvidenceList& evidence) {
  Figures figures(in, "tiling.", evidence);
  Tiling tiling;
  tiling.units = figures.number("units", 1, 1e6);
  tiling.feed = figures.quantity<BytesPerSecond>("feed");
  tiling.store = figures.quantity<BytesPerSecond>("store");
  tiling.partial_wave = figures.number("partial_wave", 0, 1);
  tiling.split = figures.quantity<Seconds>("split");
  tiling.grouped = figures.number("grouped", 1e-6, 1);
  tiling.grade = figures.grade("feed");
  in.finish();
  return tiling;
}

AttentionTiling read_attention_tiling(Reader in, EvidenceList& evidence) {
  Figures figures(in, "attention.tiling.", evidence);
  AttentionTiling tiling;
  tiling.softmax = figures.number("softmax", 0, 1e4);
  tiling.wide_heads = figures.number("wide_heads", 1e-6, 1);
  tiling.edge = figures.number("edge", 0, 1e4);
  tiling.smallest_tile = figures.number("smallest_tile", 1, 128);
  tiling.packs_groups = in.flag("packs_groups", false);
  tiling.start = figures.quantity<Seconds>("start");
  tiling.partial_wave = figures.number("partial_wave", 0, 1);
  tiling.backward = figures.number("backward", 1e-6, 1);
  tiling.grade = figures.grade("softmax");
  in.finish();
  return tiling;
}

SustainedClock read_sustained(Reader in, EvidenceList& evidence) {
  Figures figures(in, "sustained.", evidence);
  SustainedClock clock;
  clock.share = figures.number("share", 1e-6, 1);
  clock.onset = figures.quantity<Seconds>("onset");
  clock.grade = figures.grade("share");
  in.finish();
  return clock;
}

void read_kernel_figures(Reader& in, Chip& chip) {
  Reader attention = in.object("attention");
  chip.attention_plateau = noted_share(attention, "plateau", chip.evidence, "attention.plateau");
  if (auto tiling = attention.maybe_object("tiling")) {
    chip.attention_tiling = read_attention_tiling(*std::move(tiling), chip.evidence);
  }
  attention.finish();
  if (auto tiling = in.maybe_object("tiling")) {
    chip.tiling = read_tiling(*std::move(tiling), chip.evidence);
  } else if (chip.attention_tiling) {
    in.fail("tiling", "missing; attention.tiling needs it");
  }
  if (auto sustained = in.maybe_object("sustained")) {
    chip.sustained = read_sustained(*std::move(sustained), chip.evidence);
  }
}

void read_scale_up(Reader& in, Chip& chip) {
  auto scale_up = in.maybe_object("scale_up");
  if (!scale_up) {
    return;
  }
  chip.scale_up_link = scale_up->maybe_text("link").value_or("");
  chip.scale_up =
      noted_quantity<BytesPerSecond>(*scale_up, "bandwidth", chip.evidence, "scale_up.bandwidth");
  chip.scale_up_pair = scale_up->maybe_quantity<BytesPerSecond>("pair_bandwidth");
  if (chip.scale_up_pair) {
    chip.evidence.note(*scale_up, "pair_bandwidth", "scale_up.pair_bandwidth");
  }
  scale_up->finish();
}

}  // namespace

Chip read_chip(Reader& in) {
  Chip chip;
  chip.name = in.text("name");
  chip.title = in.maybe_text("title").value_or(chip.name);
  chip.vendor = in.maybe_text("vendor").value_or("");
  chip.year = static_cast<int>(in.maybe_integer("year", 1970, 2100).value_or(0));
  chip.evidence.read_sources(in);
  read_matrix(in, chip);
  read_kernel_figures(in, chip);
  chip.memory = read_memory(in.object("memory"), chip.evidence);
  chip.launch_floor = noted_quantity<Seconds>(in, "launch_floor", chip.evidence, "launch_floor");
  chip.graph_start = noted_maybe<Seconds>(in, "graph_start", chip.evidence).value_or(Seconds{});
  read_scale_up(in, chip);
  chip.host_link = noted_maybe<BytesPerSecond>(in, "host_link", chip.evidence);
  chip.power = noted_maybe<Watts>(in, "power", chip.evidence);
  chip.fit_errors = read_fit_errors(in, "", chip.evidence);
  (void)in.raw("calibration");  // how its figures were fitted
  in.finish();
  return chip;
}

std::string data_type_names(const Chip& chip) {
  std::string names;
  for (const Choice<DataType>& type : kDataTypes) {
    if (chip.rate(type.value)) {
      names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
  }
  return names;
}

}  // namespace titer
