#include "titer/model/adapters.hpp"

namespace titer {
namespace {

using A = Adapters;

constexpr std::string_view kAllWord = "all-linear";

void read_targets(const Field<A>& own, Reader& in, A& adapters) {
  const Value* value = in.raw(own.key);
  if (value == nullptr || (value->kind == Value::Kind::text && value->text == kAllWord)) {
    return;
  }
  adapters.targets = 0;
  for (const Value& item : value->items) {
    for (const Choice<WeightRole>& target : kAdapterTargets) {
      if (item.kind == Value::Kind::text && item.text == target.name) {
        adapters.targets |= role_bit(target.value);
        break;
      }
      if (&target == &kAdapterTargets.back()) {
        adapters.targets = 0;
        in.fail(own.key,
                "expected all-linear, or a list of query, key, value, output, up, gate "
                "and down");
        return;
      }
    }
  }
  if (adapters.targets == 0) {
    in.fail(own.key,
            "expected all-linear, or a list of query, key, value, output, up, gate and "
            "down");
  }
}

Value targets_schema(const Field<A>& /*own*/) {
  constexpr std::array<std::string_view, 1> all = {kAllWord};
  return schema::either({schema::one_of(std::span<const std::string_view>(all)),
                         schema::list_of(schema::one_of<WeightRole>(
                             std::span<const Choice<WeightRole>>(kAdapterTargets)))});
}

Value write_targets(const A& adapters) {
  if (adapters.targets == kAllLinear) {
    return Value(kAllWord);
  }
  Value list = Value::make_array();
  for (const Choice<WeightRole>& target : kAdapterTargets) {
    if (adapters.is_target(target.value)) {
      list.items.emplace_back(target.name);
    }
  }
  return list;
}

constexpr std::array kAdapterFields = {
    fields::integer<&A::rank>(
        "rank", {1, 1e6}, "columns of the first and rows of the second matrix")
        .needed(),
    fields::special<A, &A::targets>("targets",
                                    {read_targets, targets_schema, write_targets},
                                    "beside which products; `all-linear`: of all in layers"),
    fields::flag<&A::fused>(
        "fused",
        "beside the matrices of query, key and value, and of gate and up, one adapter for all of "
        "them, as Megatron has it, not one for each"),
    fields::choice<&A::base, kBaseFormats>(
        "base",
        "number format of weights that are not trained; `nf4`, `int8`: of layers' matrices, made "
        "16-bit numbers again for every product")
        .or_else("as other weights")};

}  // namespace

std::span<const Field<Adapters>> adapter_fields() { return kAdapterFields; }

Bytes quantised_bytes(BaseFormat format, const WeightMatrix& matrix) {
  if (format == BaseFormat::int8) {
    return Bytes::from_si(matrix.parameters() + 4.0 * matrix.count * matrix.columns);
  }
  constexpr double scales = (1.0 + 4.0 / 256) / 64;  // quantised twice
  return Bytes::from_si(matrix.parameters() * (0.5 + scales));
}

}  // namespace titer
