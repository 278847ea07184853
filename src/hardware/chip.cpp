#include "titer/hardware/chip.hpp"

#include <cmath>

#include "read_products.hpp"
#include "titer/hardware/chip_schema.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr Range kShare = {1e-6, 1};
constexpr Range kPart = {0, 1};

constexpr std::array kMatrixRateFields = {
    fields::figure<&MatrixRate::peak>("peak", "dense rate of the number format").needed(),
    fields::figure<&MatrixRate::plateau>("plateau", kShare, "share of it that large products reach")
        .needed(),
    fields::figure<&MatrixRate::saturation>("saturation",
                                            "work of products that reach half of that")
        .needed()};

constexpr std::array kMemoryFields = {
    fields::figure<&MemoryTier::capacity>("capacity", "of a device").needed(),
    fields::figure<&MemoryTier::bandwidth>("bandwidth", "as printed").needed(),
    fields::figure<&MemoryTier::efficiency>(
        "efficiency", kShare, "share of it that a long kernel gets")
        .needed()};

using T = Tiling;
constexpr std::array kTilingFields = {
    fields::figure<&T::units>(
        "units", {1, 1e6}, "multiprocessors: each works on one tile at a time")
        .needed(),
    fields::figure<&T::feed>("feed", "of operands, from the cache to all units together").needed(),
    fields::figure<&T::store>("store", "of finished tiles, from all units together").needed(),
    fields::figure<&T::partial_wave>(
        "partial_wave", kPart, "share of a last wave's idle units that is lost")
        .needed(),
    fields::figure<&T::split>("split", "of adding up the parts of tiles whose inner extent is cut")
        .needed(),
    fields::figure<&T::grouped>(
        "grouped", kShare, "share of a product's rate that those of a group reach")
        .needed(),
    fields::figure<&T::unaligned>(
        "unaligned",
        kShare,
        "share of a product's rate that one of 16-bit or narrower numbers reaches whose weights' "
        "extents are no multiples of 16 bytes")
        .or_else("1"),
    fields::figure<&T::unaligned_batch>(
        "unaligned_batch", kShare, "likewise of batches of such products, as of heads of attention")
        .or_else("`unaligned`")};

using A = AttentionTiling;
constexpr std::array kAttentionTilingFields = {
    fields::figure<&A::softmax>("softmax", {0, 1e4}, "operations of a score beside its products")
        .needed(),
    fields::figure<&A::wide_heads>(
        "wide_heads", kShare, "share of the plateau that heads wider than 160 reach")
        .needed(),
    fields::figure<&A::edge>(
        "edge", {0, 1e4}, "keys that a tile computes in vain at an edge of its mask")
        .needed(),
    fields::figure<&A::smallest_tile>("smallest_tile", {1, 128}, "queries").needed(),
    fields::flag<&A::packs_groups>("packs_groups", "queries of one group of heads share tiles"),
    fields::figure<&A::start>("start", "of a tile").needed(),
    fields::figure<&A::partial_wave>(
        "partial_wave", kPart, "share of the longest tile that all others wait for")
        .needed(),
    fields::figure<&A::backward>(
        "backward", kShare, "rate of the backward kernel over the forward one's")
        .needed()};

using B = AttentionBackward;
constexpr std::array kAttentionBackwardFields = {
    fields::figure<&B::plateau>("plateau", kShare, "share of the matrix peak").needed(),
    fields::figure<&B::wide_heads>(
        "wide_heads", kShare, "share of the plateau that heads wider than 160 reach")
        .needed(),
    fields::figure<&B::softmax>("softmax", {0, 1e4}, "operations of a score beside its products")
        .needed(),
    fields::figure<&B::edge>(
        "edge", {0, 1e4}, "queries that a tile computes in vain at an edge of the mask")
        .needed(),
    fields::figure<&B::start>("start", "of a tile").needed(),
    fields::figure<&B::partial_wave>(
        "partial_wave", kPart, "share of the longest tile that all others wait for")
        .needed(),
    fields::figure<&B::others>("others", "of the kernels before and behind it").needed(),
    fields::figure<&B::traffic>("traffic", "of theirs, for an element of the queries").needed()};

using N = NarrowAttention;
constexpr Range kTimeRatio = {0.1, 10};
constexpr std::array kNarrowAttentionFields = {
    fields::figure<&N::forward>("forward", kTimeRatio, "of the forward kernel").needed(),
    fields::figure<&N::backward>("backward", kTimeRatio, "of the backward kernel").needed(),
    fields::figure<&N::wide_forward>(
        "wide_forward", kTimeRatio, "of heads of 160 elements and more")
        .or_else("`forward`"),
    fields::figure<&N::wide_backward>("wide_backward", kTimeRatio, "likewise")
        .or_else("`backward`")};

constexpr std::array kSustainedFields = {
    fields::figure<&SustainedClock::share>("share", kShare, "of a burst's rate, in long runs")
        .needed(),
    fields::figure<&SustainedClock::onset>("onset", "after what time").needed()};

using OwnField = Field<Chip>;

void read_rate(Reader in, DataType type, Chip& chip) {
  MatrixRate& rate = chip.matrix[static_cast<std::size_t>(type)].emplace();
  const std::string path = "matrix." + std::string(name(type)) + ".";
  read_noted<MatrixRate>(kMatrixRateFields, in, path, chip.evidence, rate);
  rate.grade = chip.evidence.grade_of_share(path + "plateau", path + "peak");
}

void read_matrix(const OwnField& own, Reader& in, Chip& chip) {
  Reader matrix = in.object(own.key);
  bool any = false;
  for (const Choice<DataType>& type : kDataTypes) {
    // Asked for even when absent, so that finish() can suggest it for a misspelt type.
    if (auto rate = matrix.maybe_object(type.name)) {
      any = true;
      read_rate(*std::move(rate), type.value, chip);
    }
  }
  if (!any && in.has(own.key)) {
    in.fail(own.key, "expected the rate of at least one data type");
  }
  matrix.finish();
}

Value matrix_schema(const OwnField& /*own*/) {
  return Value::make_object()
      .add("type", "object")
      .add("propertyNames", schema::one_of<DataType>(kDataTypes))
      .add("additionalProperties", schema_of<MatrixRate>(kMatrixRateFields));
}

constexpr std::string_view kAttention = "attention.";
constexpr std::array kAttentionFields = {
    fields::figure<&Chip::attention_plateau>(
        "plateau", kShare, "share of the matrix peak that fused attention reaches")
        .needed(),
    fields::part<&Chip::attention_tiling, kAttentionTilingFields, &Chip::evidence, kAttention>(
        "tiling", "how fused attention is cut into tiles of queries"),
    fields::part<&Chip::attention_backward, kAttentionBackwardFields, &Chip::evidence, kAttention>(
        "backward_tiling",
        "how its backward kernel is cut into tiles of keys, where it was measured")
        .or_else("as forward, at the rate `tiling.backward`"),
    fields::part<&Chip::narrow_attention, kNarrowAttentionFields, &Chip::evidence, kAttention>(
        "fp8", "time with its products in fp8, over that in 16 bits")
        .or_else("not known: no run can ask for it"),
    fields::figure<&Chip::flash_2>(
        "flash_2",
        kShare,
        "rate of FlashAttention 2, whose instructions are the A100's, over that of kernels written "
        "for this chip")
        .or_else("1")};

void read_attention(const OwnField& own, Reader& in, Chip& chip) {
  Reader attention = in.object(own.key);
  read_noted<Chip>(kAttentionFields, attention, "attention.", chip.evidence, chip);
}

constexpr OwnField kTiling = fields::part<&Chip::tiling, kTilingFields, &Chip::evidence>(
    "tiling", "how products are cut into tiles and these shared out");

void read_tiling(const OwnField& own, Reader& in, Chip& chip) {
  kTiling.read(own, in, chip);
  if (chip.attention_tiling && !in.has(own.key)) {
    in.fail(own.key, "missing; attention.tiling needs it");
  }
  if (chip.attention_backward && !chip.attention_tiling) {
    in.fail("attention", "expected \"tiling\" beside \"backward_tiling\"");
  }
}

constexpr std::array kScaleUpFields = {
    fields::text<&Chip::scale_up_link>("link", "its name"),
    fields::figure<&Chip::scale_up>("bandwidth", "of a chip, one direction").needed(),
    fields::figure<&Chip::scale_up_pair>("pair_bandwidth", "between one pair of chips")};

void read_scale_up(const OwnField& own, Reader& in, Chip& chip) {
  if (auto scale_up = in.maybe_object(own.key)) {
    read_noted<Chip>(kScaleUpFields, *scale_up, "scale_up.", chip.evidence, chip);
  }
}

/// A fifth of the rated power goes whatever the clock, the rest with its cube, as voltage falls
/// with it. [Mudge 2001: dynamic power C V² f] The clock of long runs falls so far.
void read_power_cap(const OwnField& own, Reader& in, Chip& chip) {
  constexpr double still = 0.2;
  const auto cap = in.maybe_quantity<Watts>(own.key);
  if (!cap) {
    return;
  }
  const double share = chip.power ? *cap / *chip.power : 0.0;
  if (share <= still || share > 1) {
    in.fail(own.key,
            chip.power ? "expected more than a fifth of the rated power, and no more than that"
                       : "expected a chip whose rated \"power\" is known");
    return;
  }
  chip.sustained.share *= std::cbrt((share - still) / (1 - still));
  chip.power = cap;
}

constexpr std::array kChipFields = {
    fields::text<&Chip::name>("name", "as plans and prices name it").needed(),
    fields::text<&Chip::title>("title", "the same for people").or_else("its name"),
    fields::text<&Chip::vendor>("vendor", "who makes it"),
    fields::integer<&Chip::year>("year", {1970, 2100}, "of its launch").or_else("unknown"),
    fields::sources<&Chip::evidence>(),
    fields::special<Chip>(
        "matrix", {read_matrix, matrix_schema, nullptr}, "rates of products, by number format")
        .needed(),
    fields::special<Chip>(
        "attention",
        {read_attention,
         [](const OwnField& /*own*/) { return schema_of<Chip>(kAttentionFields); },
         nullptr},
        "fused attention")
        .needed(),
    kTiling.read_by(read_tiling),
    fields::part<&Chip::sustained, kSustainedFields, &Chip::evidence>(
        "sustained", "clocks under power and heat"),
    fields::part<&Chip::memory, kMemoryFields, &Chip::evidence>("memory", "of the device").needed(),
    fields::figure<&Chip::launch_floor>("launch_floor", "least time of one kernel on the device")
        .needed(),
    fields::figure<&Chip::graph_start>("graph_start", "what a graph of kernels takes beside them"),
    fields::special<Chip>("scale_up",
                          {read_scale_up,
                           [](const OwnField& /*own*/) { return schema_of<Chip>(kScaleUpFields); },
                           nullptr},
                          "links between chips"),
    fields::figure<&Chip::host_link>("host_link", "to the host, one direction"),
    fields::figure<&Chip::power>("power", "rated"),
    fields::special<Chip>(
        "power_cap",
        {read_power_cap,
         [](const OwnField& /*own*/) { return schema::figure(schema::quantity<Watts>()); },
         nullptr},
        "the most that it may draw: the clock of long runs falls with the cube "
        "root of what is above a fifth of `power`")
        .or_else("`power`"),
    fields::flag<&Chip::reads_narrow_columns>(
        "reads_narrow_columns",
        "products in fp8 take operands by columns, too, so that no transposed copy is kept"),
    fields::special<Chip>(kMeasuredProducts,
                          {[](const OwnField& own, Reader& in, Chip& /*chip*/) {
                             static_cast<void>(in.raw(own.key));  // behind all figures
                           },
                           products_schema,
                           nullptr},
                          "products C[m, n] = A[m, k] B[k, n] in 16 bits that were measured, each "
                          "as [m, n, k, microseconds]: those of the same extents take as long, "
                          "others are as far off their figures as the nearest")
        .or_else("figures alone"),
    fields::error_bars<&Chip::fit_errors, &Chip::evidence, fields::kNoPath>(),
    fields::anything<Chip>("calibration", "how its figures were fitted")};

/// `capped`: the clock of long runs follows from less power than it was measured with.
void grade_parts(bool capped, Chip& chip) {
  const EvidenceList& evidence = chip.evidence;
  chip.memory.grade = evidence.grade_of_share("memory.efficiency", "memory.bandwidth");
  chip.sustained.grade = capped ? Grade::extrapolated : evidence.grade("sustained.share");
  if (chip.tiling) {
    chip.tiling->grade = evidence.grade("tiling.feed");
  }
  if (chip.attention_tiling) {
    chip.attention_tiling->grade = evidence.grade("attention.tiling.softmax");
  }
}

}  // namespace

Value chip_schema() { return schema_of<Chip>(kChipFields); }

Chip read_chip(Reader& in) {
  Chip chip;
  read_noted<Chip>(kChipFields, in, "", chip.evidence, chip);
  if (chip.title.empty()) {
    chip.title = chip.name;
  }
  grade_parts(in.has("power_cap"), chip);
  chip.measured_products = read_products(in, chip);
  return chip;
}

std::string data_type_names(const Chip& chip) {
  std::string names;
  for (const Choice<DataType>& type : kDataTypes) {
    if (chip.rate(type.value)) {
      add_listed(names, type.name);
    }
  }
  return names;
}

}  // namespace titer
