// The order of columns: sorted, ties in the order of rows, missing last, few values as codes.
#include "sureleaf/presort.hpp"

#include "check.hpp"
#include "small_table.hpp"

using checks::SmallTable;
using sureleaf::increase_bit;
using sureleaf::InterruptFlag;
using sureleaf::Presorted;
using sureleaf::PresortedColumn;

namespace {

Presorted presort(const SmallTable& table, std::size_t n_threads = 1) {
  InterruptFlag interrupt;
  return sureleaf::presort(table.columns, n_threads, interrupt);
}

void check_order(const PresortedColumn& column, const std::vector<double>& values) {
  std::vector<char> seen(values.size(), 0);
  bool in_order = column.order.size() == values.size();
  for (std::size_t i = 0; in_order && i < values.size(); ++i) {
    const std::size_t row = column.order[i] & ~increase_bit;
    seen[row] = 1;
    if (i >= column.n_known) {
      in_order = std::isnan(values[row]) && !(column.order[i] & increase_bit);
      continue;
    }
    in_order = !std::isnan(values[row]);
    if (i == 0) continue;
    const std::size_t before = column.order[i - 1] & ~increase_bit;
    const bool increases = values[before] < values[row];
    in_order = in_order && (increases || (values[before] == values[row] && before < row)) &&
               increases == static_cast<bool>(column.order[i] & increase_bit);
  }
  CHECK(in_order);
  CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(values.size()));
}

void columns_of_many_values_are_sorted() {
  std::mt19937_64 random(1);
  const double inf = std::numeric_limits<double>::infinity();
  for (const int style : {0, 1, 2, 3}) {
    std::vector<double> values;
    for (int row = 0; row < 5000; ++row) {
      const double u = static_cast<double>(random()) / 18446744073709551616.0 - 0.5;
      double value = u;
      if (style == 1) value = 1.0 + u * 1e-9;  // the upper half of the key ties
      if (style == 2) value = std::ldexp(u, static_cast<int>(random() % 2000) - 1000);
      if (style == 3) value = std::floor(u * 1000);  // many ties
      if (random() % 20 == 0) value = random() % 2 ? inf : -inf;
      if (random() % 10 == 0) value = std::nan("");
      if (random() % 50 == 0) value = random() % 2 ? 0.0 : -0.0;
      values.push_back(value);
    }
    SmallTable table;
    table.add(values);
    const Presorted sorted = presort(table);
    CHECK(sorted.columns[0].is_ordered_list());
    check_order(sorted.columns[0], values);
  }
}

void few_values_become_codes() {
  for (const std::size_t n_distinct : {1, 3, 254, 255, 256}) {
    SmallTable table;
    std::vector<double> values;
    for (std::size_t i = 0; i < 2000; ++i)
      values.push_back(i % 7 == 0 && i > 300 ? std::nan("")
                                             : -static_cast<double>(i % n_distinct) / 8);
    table.add(values);
    const Presorted sorted = presort(table);
    const PresortedColumn& column = sorted.columns[0];
    CHECK(column.is_ordered_list() == (n_distinct > sureleaf::max_small_codes));
    if (column.is_ordered_list()) {
      check_order(column, values);
      continue;
    }
    CHECK(column.values.size() == n_distinct);
    CHECK(std::is_sorted(column.values.begin(), column.values.end()));
    const auto [codes, step] = sorted.small_codes_of(0);
    bool agrees = true;
    for (std::size_t row = 0; row < values.size(); ++row) {
      const std::uint8_t code = codes[row * step];
      agrees = agrees && (std::isnan(values[row]) ? code == sorted.n_codes(0)
                                                  : column.values[code] == values[row]);
    }
    CHECK(agrees);
  }
}

void two_values_become_flags_side_by_side() {
  SmallTable table;
  for (int column = 0; column < 20; ++column) {
    std::vector<double> values;
    for (int row = 0; row < 5000; ++row) values.push_back((row >> column) & 1 ? 3.5 : -2.0);
    table.add(values);
  }
  table.add(std::vector<std::int32_t>(5000, 0), 2, false);  // one category only: no flag
  const Presorted sorted = presort(table, 3);
  CHECK(sorted.n_flags % Presorted::flag_padding == 0);
  bool agrees = true;
  for (std::size_t column = 0; column < 13; ++column) {
    const auto [codes, step] = sorted.small_codes_of(column);
    for (std::size_t row = 0; row < 5000; ++row)
      agrees = agrees && codes[row * step] == ((row >> column) & 1);
  }
  CHECK(agrees);
  CHECK(sorted.columns[0].flag >= 0);
  CHECK(sorted.columns[20].flag < 0);
}

void gaps_are_noted() {
  const auto is_wide = [](double step) {
    SmallTable table;
    std::vector<double> values;
    for (int row = 0; row < 600; ++row) values.push_back(row % 300 * step);
    table.add(values);
    return presort(table).columns[0].gaps_are_wide;
  };
  CHECK(is_wide(1.1e-5));
  CHECK(!is_wide(0.9e-5));
}

void any_stride_reads_the_same() {
  std::vector<double> rows;
  for (int i = 0; i < 3000; ++i) rows.push_back(std::sin(i * i));
  SmallTable strided, plain;
  for (std::size_t j = 0; j < 3; ++j) {
    std::vector<double> column;
    for (std::size_t row = 0; row < 1000; ++row) column.push_back(rows[row * 3 + j]);
    plain.add(column);
    strided.columns.columns.push_back(
        {sureleaf::Kind::numeric, reinterpret_cast<const char*>(rows.data() + j), 24, 0});
  }
  strided.columns.n_rows = 1000;
  const Presorted a = presort(strided, 2), b = presort(plain);
  for (std::size_t j = 0; j < 3; ++j) CHECK(a.columns[j].order == b.columns[j].order);
}

}  // namespace

TESTS(presort_test) {
  columns_of_many_values_are_sorted();
  few_values_become_codes();
  two_values_become_flags_side_by_side();
  gaps_are_noted();
  any_stride_reads_the_same();
}
