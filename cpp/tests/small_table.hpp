// Tables that own their columns, for tests.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "sureleaf/columns.hpp"

namespace checks {

struct SmallTable {
  sureleaf::Columns columns;
  std::deque<std::vector<double>> numbers;
  std::deque<std::vector<std::int32_t>> codes;
  std::vector<std::int32_t> labels;
  std::size_t n_classes = 2;

  void add(std::vector<double> values) {
    numbers.push_back(std::move(values));
    columns.columns.push_back(
        {sureleaf::Kind::numeric, reinterpret_cast<const char*>(numbers.back().data()), 8, 0});
    columns.n_rows = numbers.back().size();
  }
  void add(std::vector<std::int32_t> values, std::int32_t n_categories, bool ordered) {
    codes.push_back(std::move(values));
    const auto kind = ordered ? sureleaf::Kind::ordered : sureleaf::Kind::categorical;
    columns.columns.push_back(
        {kind, reinterpret_cast<const char*>(codes.back().data()), 4, n_categories});
    columns.n_rows = codes.back().size();
  }
};

// Continuous, few-valued, two-valued, categorical and ordered columns, with missing_share in most.
inline SmallTable mixed_table(std::size_t n_rows, double missing_share, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  SmallTable table;
  table.n_classes = 3;
  for (std::size_t row = 0; row < n_rows; ++row)
    table.labels.push_back(static_cast<std::int32_t>(random() % 3));
  for (int style = 0; style < 4; ++style) {
    std::vector<double> values;
    for (std::size_t row = 0; row < n_rows; ++row) {
      double value = uniform() + 0.2 * table.labels[row];
      if (style == 1) value = std::floor(value * 20);
      if (style == 2) value = value > 0.7;
      values.push_back(style < 2 && uniform() < missing_share ? std::nan("") : value);
    }
    table.add(std::move(values));
  }
  for (const std::int32_t n_categories : {2, 6, 300}) {
    std::vector<std::int32_t> codes;
    for (std::size_t row = 0; row < n_rows; ++row) {
      const auto leaning = static_cast<std::uint32_t>(table.labels[row]) + random() % 5;
      codes.push_back(uniform() < missing_share
                          ? sureleaf::missing_code
                          : static_cast<std::int32_t>(leaning * 7 % n_categories));
    }
    table.add(codes, n_categories, n_categories == 6);
  }
  return table;
}

}  // namespace checks
