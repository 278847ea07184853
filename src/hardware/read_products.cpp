#include "read_products.hpp"

#include <array>
#include <optional>
#include <vector>

#include "titer/hardware/kernel.hpp"

namespace titer {
namespace {

/// Of [m, n, k, microseconds]; nothing where it is anything else.
std::optional<std::array<double, 4>> numbers_of(const Value& row) {
  std::array<double, 4> numbers{};
  if (row.items.size() != numbers.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = row.items[i].number;
    if (row.items[i].kind != Value::Kind::number || !(numbers[i] > 0)) {
      return std::nullopt;
    }
  }
  return numbers;
}

}  // namespace

Value products_schema(const Field<Chip>& /*own*/) {
  return schema::list_of(schema::list_of(schema::number({0})));
}

std::shared_ptr<const MeasuredProducts> read_products(Reader& in, const Chip& chip) {
  const Value* rows = in.raw(kMeasuredProducts);
  const DataType type = chip.rate(DataType::bf16) ? DataType::bf16 : DataType::fp16;
  if (rows == nullptr || rows->kind == Value::Kind::null || !chip.rate(type)) {
    return nullptr;
  }
  std::vector<MeasuredProduct> products;
  const KernelClock clock(chip, type, type, Clocks::burst);
  for (const Value& row : rows->items) {
    const auto numbers = numbers_of(row);
    if (!numbers) {
      products.clear();
      break;
    }
    const auto& [m, n, k, microseconds] = *numbers;
    const KernelShape shape{.rows = static_cast<float>(m),
                            .columns = static_cast<float>(n),
                            .inner = static_cast<float>(k)};
    const Seconds figures = clock.time(product_of(shape, type));
    products.push_back({.rows = shape.rows,
                        .columns = shape.columns,
                        .inner = shape.inner,
                        .ratio = microseconds * 1e-6 / figures.si()});
  }
  if (products.empty()) {
    in.fail(kMeasuredProducts, "expected a list of products [m, n, k, microseconds], all above 0");
    return nullptr;
  }
  return std::make_shared<const MeasuredProducts>(products);
}

}  // namespace titer
