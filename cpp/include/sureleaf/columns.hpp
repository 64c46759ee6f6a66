// A table as the kernel sees it: borrowed columns of numbers or category codes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sureleaf {

enum class Kind : std::uint8_t { numeric, categorical, ordered };

inline constexpr std::int32_t missing_code = -1;
inline constexpr std::int32_t unseen_code = -2;

// One column: float64 of any stride (NaN is missing) or contiguous int32 category codes.
struct Column {
  Kind kind = Kind::numeric;
  const char* data = nullptr;
  std::ptrdiff_t stride = 0;
  std::int32_t n_categories = 0;

  double number(std::size_t row) const {
    return *reinterpret_cast<const double*>(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
  std::int32_t code(std::size_t row) const {
    return *reinterpret_cast<const std::int32_t*>(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
  // The place of a row on the line that thresholds cut; NaN where it has none.
  double value(std::size_t row) const {
    if (kind == Kind::numeric) return number(row);
    const std::int32_t c = code(row);
    return c < 0 ? std::nan("") : static_cast<double>(c);
  }
  bool has_thresholds() const { return kind != Kind::categorical; }
};

struct Columns {
  std::vector<Column> columns;
  std::size_t n_rows = 0;

  std::size_t size() const { return columns.size(); }
  const Column& operator[](std::size_t j) const { return columns[j]; }
};

}  // namespace sureleaf
