// A table as the kernel reads it: borrowed columns of numbers or category codes.
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

// One column of any stride: float64 numbers (NaN is missing) or int32 category codes. Rows that are
// only predicted may be narrow: int64 numbers or int8 codes.
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
  // Only for tables that trees are grown on, which are not narrow.
  double number(std::size_t row) const { return cell<double>(row); }
  std::int32_t code(std::size_t row) const { return cell<std::int32_t>(row); }
  // The number that thresholds are compared with; NaN if it is missing.
  double value(std::size_t row) const {
    return kind == Kind::numeric ? number(row) : position_of(code(row));
  }
  // The same for columns of any width.
  std::int32_t any_code(std::size_t row) const {
    return is_narrow ? cell<std::int8_t>(row) : code(row);
  }
  double any_value(std::size_t row) const {
    if (kind != Kind::numeric) return position_of(any_code(row));
    return is_narrow ? static_cast<double>(cell<std::int64_t>(row)) : number(row);
  }
  static double position_of(std::int32_t code) {
    return code < 0 ? std::nan("") : static_cast<double>(code);
  }
  bool has_thresholds() const { return kind != Kind::categorical; }
  // Whether the numbers are adjacent.
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
