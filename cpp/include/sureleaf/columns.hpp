// A table as the kernel sees it: borrowed columns of numbers or category codes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sureleaf {

enum class Kind : std::uint8_t { numeric, categorical, ordered };

inline constexpr std::int32_t missing_code = -1;
inline constexpr std::int32_t unseen_code = -2;

// One column of any stride: float64 numbers (NaN is missing) or int32 category codes; or narrow, as
// rows to be predicted often come: int64 numbers or int8 codes.
struct Column {
  Kind kind = Kind::numeric;
  const char* data = nullptr;
  std::ptrdiff_t stride = 0;
  std::int32_t n_categories = 0;
  bool is_narrow = false;

  template <class Cell>
  Cell cell(std::size_t row) const {
    return *reinterpret_cast<const Cell*>(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
  // Of tables that trees are grown on, which are not narrow.
  double number(std::size_t row) const { return cell<double>(row); }
  std::int32_t code(std::size_t row) const { return cell<std::int32_t>(row); }
  // The place of a row on the line that thresholds cut; NaN where it has none.
  double value(std::size_t row) const {
    return kind == Kind::numeric ? number(row) : place_of(code(row));
  }
  // The same of any rows.
  std::int32_t walked_code(std::size_t row) const {
    return is_narrow ? cell<std::int8_t>(row) : code(row);
  }
  double walked_value(std::size_t row) const {
    if (kind != Kind::numeric) return place_of(walked_code(row));
    return is_narrow ? static_cast<double>(cell<std::int64_t>(row)) : number(row);
  }
  static double place_of(std::int32_t code) {
    return code < 0 ? std::nan("") : static_cast<double>(code);
  }
  bool has_thresholds() const { return kind != Kind::categorical; }
  // Numbers side by side.
  bool is_dense() const {
    return kind == Kind::numeric && !is_narrow &&
           stride == static_cast<std::ptrdiff_t>(sizeof(double));
  }
  const double* numbers() const { return reinterpret_cast<const double*>(data); }
};

struct Columns {
  std::vector<Column> columns;
  std::size_t n_rows = 0;

  std::size_t size() const { return columns.size(); }
  const Column& operator[](std::size_t j) const { return columns[j]; }
  bool is_by_rows() const {
    return std::ranges::any_of(columns, [](const Column& column) {
      return column.stride > static_cast<std::ptrdiff_t>(sizeof(double));
    });
  }
};

}  // namespace sureleaf
