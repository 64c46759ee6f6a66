// The order of rows by their numbers, against a plain stable sort: any route_fractional, any ties.
#include "sureleaf/sort_rows.hpp"

#include <functional>
#include <random>

#include "check.hpp"

using sureleaf::c45_gap;
using sureleaf::increase_bit;
using sureleaf::InterruptFlag;
using sureleaf::RowOrder;
using sureleaf::detail::RowSorter;

namespace {

RowOrder plain_order(const std::vector<double>& values) {
  RowOrder result;
  std::vector<std::uint32_t> without_value;
  for (std::uint32_t row = 0; row < values.size(); ++row)
    (std::isnan(values[row]) ? without_value : result.rows).push_back(row);
  result.n_known = result.rows.size();
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  std::vector<std::uint32_t> marked = result.rows;
  for (std::size_t i = 1; i < result.rows.size(); ++i) {
    const double before = values[result.rows[i - 1]], here = values[result.rows[i]];
    if (!(before < here)) continue;
    marked[i] |= increase_bit;
    if (!(before + c45_gap < here)) result.gaps_are_wide = false;
  }
  result.rows = marked;
  result.rows.insert(result.rows.end(), without_value.begin(), without_value.end());
  return result;
}

struct Style {
  const char* name;
  std::function<double(double, std::mt19937_64&)> number;  // of a uniform number
};

const std::vector<Style>& styles() {
  static const double inf = std::numeric_limits<double>::infinity();
  static const double least = std::numeric_limits<double>::denorm_min();
  static const double most = std::numeric_limits<double>::max();
  static const std::vector<Style> all{
      {"even", [](double u, auto&) { return u; }},
      {"money", [](double u, auto&) { return std::floor(u * 5000) / 100; }},
      {"whole", [](double u, auto&) { return std::floor(u * 3000) - 1000; }},
      {"wide gaps", [](double u, auto&) { return std::floor(u * 1e6) * 2e-5; }},
      {"narrow gaps", [](double u, auto&) { return std::floor(u * 1e6) * 0.9e-5; }},
      {"gaps at the border", [](double u, auto&) { return 7 + std::floor(u * 1e4) * c45_gap; }},
      {"close to one", [](double u, auto&) { return 1 + u * 1e-9; }},
      {"last digits", [](double u, auto&) { return 1 + std::floor(u * 300) * 0x1p-52; }},
      {"far away", [](double u, auto&) { return 1e15 + std::floor(u * 1e4) / 8; }},
      {"one outlier", [](double u, auto& random) { return random() % 997 ? u : 1e12; }},
      {"huge outlier", [](double u, auto& random) { return random() % 997 ? u : 1e300; }},
      {"cluster", [](double u, auto& random) { return random() % 20 ? u : u * 1e-12; }},
      {"small cluster", [](double u, auto& random) { return random() % 300 ? u : u * 1e-12; }},
      {"logarithmic", [](double u, auto&) { return std::exp(60 * (u - 0.5)); }},
      {"any exponent",
       [](double u, auto& random) {
         return std::ldexp(u - 0.5, static_cast<int>(random() % 2090) - 1060);
       }},
      {"denormal", [](double u, auto&) { return std::floor(u * 1000) * least; }},
      {"ends of the line", [](double u, auto&) { return (u - 0.5) * 2 * most; }},
      {"infinite",
       [](double u, auto& random) { return random() % 9   ? u
                                           : random() % 2 ? inf
                                                          : -inf; }},
      {"zeros",
       [](double u, auto& random) { return random() % 2 ? u - 0.5
                                           : u < 0.5    ? 0.0
                                                        : -0.0; }},
      {"missing_share", [](double u, auto& random) { return random() % 3 ? u : std::nan(""); }},
      {"one number", [](double, auto&) { return 3.5; }},
      {"nothing", [](double, auto&) { return std::nan(""); }},
  };
  return all;
}

void orders_are_those_of_a_plain_sort() {
  std::mt19937_64 random(1);
  RowSorter sorter;
  InterruptFlag interrupt;
  for (const std::size_t n_rows : {0, 1, 2, 3, 17, 300, 5000, 70000})
    for (const Style& style : styles()) {
      std::vector<double> values;
      for (std::size_t row = 0; row < n_rows; ++row)
        values.push_back(style.number(static_cast<double>(random() >> 11) * 0x1p-53, random));
      const RowOrder order = sorter.sort(values, interrupt), plain = plain_order(values);
      const bool agrees = order.rows == plain.rows && order.n_known == plain.n_known &&
                          order.gaps_are_wide == plain.gaps_are_wide;
      if (!agrees) std::printf("%s, %zu rows\n", style.name, n_rows);
      CHECK(agrees);
    }
}

void sorted_rows_stay_and_turned_ones_turn() {
  RowSorter sorter;
  InterruptFlag interrupt;
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> values;
    for (int row = 0; row < 3000; ++row) values.push_back(sign * std::sqrt(row));
    CHECK(sorter.sort(values, interrupt).rows == plain_order(values).rows);
  }
}

}  // namespace

TESTS(sort_rows_test) {
  orders_are_those_of_a_plain_sort();
  sorted_rows_stay_and_turned_ones_turn();
}
