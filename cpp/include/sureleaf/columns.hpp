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

// The type of a column's cells in memory. Category codes are int32, int8 or (in coded tables)
// uint8.
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
  // Numbers that are stored as small codes: the value of each code, NaN for missing. Cells are
  // uint8. A code may stand for a range of values, and then its value is the upper end.
  const double* value_of_code = nullptr;
  std::size_t n_codes = 0;
  bool are_ranges = false;

  template <class Cell>
  Cell cell(std::size_t row) const {
    return *reinterpret_cast<const Cell*>(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
  void prefetch(std::size_t row) const {
    __builtin_prefetch(data + static_cast<std::ptrdiff_t>(row) * stride);
  }
  bool is_coded_number() const { return value_of_code != nullptr; }
  double number(std::size_t row) const {
    if (is_coded_number()) return value_of_code[cell<std::uint8_t>(row)];
    if (cell_type == CellType::float64) return cell<double>(row);
    return with_cell_type(cell_type,
                          [&](auto type) { return number_of(cell<decltype(type)>(row)); });
  }
  std::int32_t code(std::size_t row) const {
    if (cell_type == CellType::uint8) {
      const std::int32_t code = cell<std::uint8_t>(row);
      return code < n_categories ? code : missing_code;
    }
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
    else if (is_coded_number())
      use([column](std::size_t row) {
        return column.value_of_code[column.cell<std::uint8_t>(row)];
      });
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
  // A coded table: the uint8 codes of all columns but those of many categories, row by row; the
  // code of a missing value is the number of codes. has_missing says where there are any.
  const std::uint8_t* coded_rows = nullptr;
  std::vector<bool> has_missing;

  std::size_t size() const { return columns.size(); }
  const Column& operator[](std::size_t j) const { return columns[j]; }
  bool is_by_rows() const {
    return std::ranges::any_of(columns, [](const Column& column) {
      return column.stride > static_cast<std::ptrdiff_t>(sizeof(double));
    });
  }
};

}  // namespace sureleaf
