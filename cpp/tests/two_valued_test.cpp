// Flags of a table by rows are what a look at every cell says, whatever the threads.
#include "sureleaf/two_valued.hpp"

#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"

using sureleaf::CellType;
using sureleaf::Column;
using sureleaf::Columns;
using sureleaf::InterruptFlag;
using sureleaf::ThreadPool;
using sureleaf::TwoValuedColumns;

namespace {

// A matrix by rows; the slow twin of what is tested reads it cell by cell.
template <class Cell>
struct Matrix {
  Matrix(std::size_t n_rows, std::size_t n_columns) : cells(n_rows * n_columns), width(n_columns) {
    columns.n_rows = n_rows;
  }
  Cell& at(std::size_t row, std::size_t j) { return cells[row * width + j]; }
  const Columns& table(CellType type) {
    columns.columns.clear();
    for (std::size_t j = 0; j < width; ++j) {
      Column column;
      column.data = reinterpret_cast<const char*>(cells.data() + j);
      column.stride = static_cast<std::ptrdiff_t>(width * sizeof(Cell));
      column.cell_type = type;
      columns.columns.push_back(column);
    }
    return columns;
  }
  // The two values of a column, ascending; none if it has missing, fewer or more values.
  std::vector<double> two_values(std::size_t j) {
    std::set<double> values;
    for (std::size_t row = 0; row < columns.n_rows; ++row) {
      const auto x = static_cast<double>(at(row, j));
      if (std::isnan(x)) return {};
      values.insert(x);
    }
    return values.size() == 2 ? std::vector<double>(values.begin(), values.end())
                              : std::vector<double>();
  }

  std::vector<Cell> cells;
  std::size_t width;
  Columns columns;
};

template <class Cell>
void check_flags(Matrix<Cell>& matrix, CellType type, std::size_t n_expected) {
  const Columns& table = matrix.table(type);
  for (const std::size_t n_threads : {1, 3}) {
    ThreadPool pool(n_threads);
    InterruptFlag interrupt;
    const TwoValuedColumns result = sureleaf::find_two_valued(table, 4, pool, interrupt);
    CHECK(result.found.size() == n_expected);
    CHECK(result.width % TwoValuedColumns::padding == 0);
    bool are_right = true;
    for (const TwoValuedColumns::Found& found : result.found) {
      const std::vector<double> values = matrix.two_values(found.column);
      are_right = are_right && values == std::vector<double>{found.low, found.high} &&
                  !std::signbit(found.low == 0    ? found.low
                                : found.high == 0 ? found.high
                                                  : 0.0);
      for (std::size_t row = 0; are_right && row < table.n_rows; ++row)
        are_right = result.flags[row * result.width + found.flag] ==
                    (static_cast<double>(matrix.at(row, found.column)) == values[1]);
    }
    CHECK(are_right);
  }
}

template <class Cell>
void columns_of_two_values_become_flags(CellType type) {
  std::mt19937 random(1);
  const std::size_t n_rows = 20'011;
  Matrix<Cell> matrix(n_rows, 24);
  for (std::size_t row = 0; row < n_rows; ++row)
    for (std::size_t j = 0; j < matrix.width; ++j)
      matrix.at(row, j) = static_cast<Cell>(j % 8 == 7          ? random() % 100  // many values
                                            : random() % 3 == 0 ? 1 + j
                                                                : 2);
  for (std::size_t row = 0; row < n_rows; ++row) {
    matrix.at(row, 1) = static_cast<Cell>(5);                      // one value
    matrix.at(row, 2) = static_cast<Cell>(row == 7'777 ? 9 : 5);   // a rare higher value
    matrix.at(row, 3) = static_cast<Cell>(row == 19'999 ? 1 : 5);  // a rare lower value
  }
  matrix.at(13'333, 4) = static_cast<Cell>(77);  // a rare third value
  matrix.at(7, 5) = static_cast<Cell>(77);       // two more, far apart
  matrix.at(20'005, 5) = static_cast<Cell>(78);
  // of 24 columns three have many values, one has one value and two have a third one
  check_flags(matrix, type, 18);
}

void zeros_are_equal_and_missing_values_are_none() {
  std::mt19937 random(2);
  Matrix<double> matrix(3'000, 9);
  for (std::size_t row = 0; row < 3'000; ++row)
    for (std::size_t j = 0; j < matrix.width; ++j)
      matrix.at(row, j) = random() % 2 ? 0.0 : j % 2 ? -1.0 : 1.0;
  for (std::size_t row = 0; row < 3'000; row += 5)
    for (std::size_t j = 0; j < 4; ++j)
      if (matrix.at(row, j) == 0) matrix.at(row, j) = -0.0;
  matrix.at(0, 4) = -0.0;
  matrix.at(2'999, 5) = std::nan("");
  matrix.at(1'111, 6) = std::numeric_limits<double>::infinity();
  check_flags(matrix, CellType::float64, 7);
}

void few_rows_and_few_columns_are_left_alone() {
  Matrix<double> small(255, 8), narrow(1'000, 3), by_columns(1'000, 1);
  for (std::size_t i = 0; i < small.cells.size(); ++i) small.cells[i] = i / 8 % 2;
  for (std::size_t i = 0; i < narrow.cells.size(); ++i) narrow.cells[i] = i / 3 % 2;
  check_flags(small, CellType::float64, 0);
  check_flags(narrow, CellType::float64, 0);
  check_flags(by_columns, CellType::float64, 0);
}

}  // namespace

TESTS(two_valued_test) {
  columns_of_two_values_become_flags<double>(CellType::float64);
  columns_of_two_values_become_flags<float>(CellType::float32);
  columns_of_two_values_become_flags<std::int64_t>(CellType::int64);
  columns_of_two_values_become_flags<std::int32_t>(CellType::int32);
  columns_of_two_values_become_flags<std::int16_t>(CellType::int16);
  columns_of_two_values_become_flags<std::int8_t>(CellType::int8);
  zeros_are_equal_and_missing_values_are_none();
  few_rows_and_few_columns_are_left_alone();
}
