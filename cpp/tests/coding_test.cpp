// Fingerprints of rows do not depend on how a table lies in memory.
#include "sureleaf/coding.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "small_table.hpp"

namespace {

template <class Cell>
void fingerprints_by_rows_are_those_by_columns(sureleaf::CellType type) {
  std::mt19937 random(1);
  constexpr std::size_t n_columns = 5;
  for (const std::size_t n_rows : {0, 1, 3, 4, 5, 1023, 1024, 1025, 3001}) {
    std::vector<Cell> matrix(n_rows * n_columns);
    for (Cell& cell : matrix) {
      cell = static_cast<Cell>(random() % 7);
      if (cell == 1 && std::is_floating_point_v<Cell>) cell = static_cast<Cell>(-0.0);
      if (cell == 2 && std::is_floating_point_v<Cell>) cell = static_cast<Cell>(std::nan(""));
    }
    checks::SmallTable by_columns;
    sureleaf::Columns by_rows;
    by_rows.n_rows = n_rows;
    for (std::size_t j = 0; j < n_columns; ++j) {
      std::vector<double> values;
      for (std::size_t row = 0; row < n_rows; ++row)
        values.push_back(static_cast<double>(matrix[row * n_columns + j]));
      by_columns.add(std::move(values));
      sureleaf::Column column;
      column.data = reinterpret_cast<const char*>(matrix.data() + j);
      column.stride = n_columns * sizeof(Cell);
      column.cell_type = type;
      by_rows.columns.push_back(column);
    }
    std::vector<std::int32_t> labels(n_rows);
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random() % 3);
    sureleaf::InterruptFlag interrupt;
    CHECK(sureleaf::row_fingerprints(by_rows, labels, 2, interrupt) ==
          sureleaf::row_fingerprints(by_columns.columns, labels, 1, interrupt));
  }
}

}  // namespace

TESTS(coding_test) {
  fingerprints_by_rows_are_those_by_columns<double>(sureleaf::CellType::float64);
  fingerprints_by_rows_are_those_by_columns<float>(sureleaf::CellType::float32);
  fingerprints_by_rows_are_those_by_columns<std::int64_t>(sureleaf::CellType::int64);
}
