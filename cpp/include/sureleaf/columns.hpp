// A table as the kernel reads it: borrowed columns of numbers or category codes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace sureleaf {

enum class Kind : std::uint8_t { numeric, categorical, ordered };

inline constexpr std::int32_t missing_code = -1;
inline constexpr std::int32_t unseen_code = -2;

// The type of a column's cells in memory. Codes are int32 or int8.
enum class CellType : std::uint8_t { float64, float32, int64, int32, int16, int8, uint8 };

// Calls use with a value of the type, for loops that are compiled once per type.
template <class Use>
decltype(auto) with_cell_type(CellType type, Use&& use) {
  switch (type) {
    case CellType::float32:
      return use(float{});
    case CellType::int64:
      return use(std::int64_t{});
    case CellType::int32:
      return use(std::int32_t{});
    case CellType::int16:
      return use(std::int16_t{});
    case CellType::int8:
      return use(std::int8_t{});
    case CellType::uint8:
      return use(std::uint8_t{});
    default:
      return use(double{});
  }
}

// A cell as float64. Beyond 2^53 integers are rounded up: then x <= t is exact for every float64 t.
template <class Cell>
double number_of(Cell cell) {
  const auto number = static_cast<double>(cell);
  if constexpr (std::is_same_v<Cell, std::int64_t>) {
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    constexpr double end = 0x1p63;  // is above all integers, and cannot be converted back
    if (cell >= -exact && cell <= exact) return number;
    if (number < end && static_cast<std::int64_t>(number) < cell)
      return std::nextafter(number, std::numeric_limits<double>::infinity());
  }
  return number;
}

// One column of any stride: numbers of any cell type, which are read as float64 (NaN is missing),
// or category codes.
struct Column {
  Kind kind = Kind::numeric;
  const char* data = nullptr;
  std::ptrdiff_t stride = 0;
  std::int32_t n_categories = 0;
  CellType cell_type = CellType::float64;

  template <class Cell>
  Cell cell(std::size_t row) const {
    return *reinterpret_cast<const Cell*>(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
  double number(std::size_t row) const {
    if (cell_type == CellType::float64) return cell<double>(row);
    return with_cell_type(cell_type,
                          [&](auto type) { return number_of(cell<decltype(type)>(row)); });
  }
  std::int32_t code(std::size_t row) const {
    return cell_type == CellType::int8 ? cell<std::int8_t>(row) : cell<std::int32_t>(row);
  }
  // The number that thresholds are compared with; NaN if it is missing.
  double value(std::size_t row) const {
    return kind == Kind::numeric ? number(row) : position_of(code(row));
  }
  // Hands over a function from row to value, for loops over many rows.
  template <class Use>
  void with_values(Use&& use) const {
    const Column column = *this;
    if (kind != Kind::numeric)
      use([column](std::size_t row) { return position_of(column.code(row)); });
    else
      with_cell_type(cell_type, [&](auto type) {
        use([column](std::size_t row) { return number_of(column.cell<decltype(type)>(row)); });
      });
  }
  static double position_of(std::int32_t code) {
    return code < 0 ? std::nan("") : static_cast<double>(code);
  }
  bool has_thresholds() const { return kind != Kind::categorical; }
  // Whether the cells are adjacent float64 numbers.
  bool is_dense() const {
    return kind == Kind::numeric && cell_type == CellType::float64 &&
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
