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
  Reader attention = in.object("attention");
  chip.attention_plateau = noted_share(attention, "plateau", chip.evidence, "attention.plateau");
  attention.finish();
  chip.memory = read_memory(in.object("memory"), chip.evidence);
  chip.launch_floor = noted_quantity<Seconds>(in, "launch_floor", chip.evidence, "launch_floor");
  read_scale_up(in, chip);
  chip.host_link = noted_maybe<BytesPerSecond>(in, "host_link", chip.evidence);
  chip.power = noted_maybe<Watts>(in, "power", chip.evidence);
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
