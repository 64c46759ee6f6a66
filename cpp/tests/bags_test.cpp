// Sums over trees are those of each tree's routes, row by row, however many threads add them up.
#include "sureleaf/bags.hpp"

#include <cstring>

#include "check.hpp"
#include "growing.hpp"

using checks::close;
using checks::mixed_table;
using checks::SmallTable;
using sureleaf::BaggedTree;
using sureleaf::BagSums;
using sureleaf::InterruptFlag;
using sureleaf::Tree;
using sureleaf::Unseen;

namespace {

constexpr std::size_t n_leaf_values = 3;

// Trees of some rows each, those with a missing value among them.
std::vector<Tree> grown(const SmallTable& table, std::size_t n_trees, bool subsets) {
  InterruptFlag interrupt;
  const sureleaf::GrowthConfig config =
      checks::config_of(sureleaf::criterion_id<sureleaf::Gini>, subsets);
  sureleaf::Presorted sorted = sureleaf::presort(table.columns, 1, interrupt);
  std::vector<Tree> trees;
  for (std::size_t t = 0; t < n_trees; ++t) {
    std::vector<std::uint32_t> counts;
    for (std::size_t row = 0; row < table.columns.n_rows; ++row)
      counts.push_back(static_cast<std::uint32_t>((row * (t + 3)) % 7 % 3));
    trees.push_back(checks::grow(sorted, table, config, 1, {counts, {}}, false, interrupt));
  }
  return trees;
}

std::vector<std::vector<double>> values_of(const std::vector<Tree>& trees) {
  std::vector<std::vector<double>> values;
  for (const Tree& tree : trees) {
    values.emplace_back();
    for (std::size_t i = 0; i < tree.size() * n_leaf_values; ++i)
      values.back().push_back(std::cos(static_cast<double>(i + values.size())));
  }
  return values;
}

// The same sums by way of the routes, one row after the other.
BagSums sums_of_routes(const std::vector<BaggedTree>& bags, const SmallTable& table,
                       Unseen unseen) {
  InterruptFlag interrupt;
  const std::size_t n_rows = table.columns.n_rows;
  BagSums sums{std::vector<double>(n_rows * n_leaf_values),
               std::vector<double>(n_rows * n_leaf_values),
               std::vector<double>(n_rows * n_leaf_values), std::vector<double>(n_rows),
               std::vector<double>(n_rows)};
  for (const BaggedTree& bag : bags) {
    const sureleaf::Routes routes = sureleaf::route(bag.tree, table.columns, unseen, interrupt);
    for (std::size_t row = 0; row < n_rows; ++row) {
      if (!bag.uses_row.empty() && !bag.uses_row[row]) continue;
      double mean[n_leaf_values] = {};
      for (auto i = routes.offset[row]; i < routes.offset[row + 1]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        for (std::size_t k = 0; k < n_leaf_values; ++k)
          mean[k] += routes.share[at] *
                     bag.values[static_cast<std::size_t>(routes.node[at]) * n_leaf_values + k];
      }
      std::size_t winner = 0;
      for (std::size_t k = 0; k < n_leaf_values; ++k) {
        sums.values[row * n_leaf_values + k] += mean[k];
        sums.squares[row * n_leaf_values + k] += mean[k] * mean[k];
        if (mean[k] > mean[winner] + 1e-12) winner = k;
      }
      sums.votes[row * n_leaf_values + winner] += 1;
      sums.imputed[row] += routes.imputed_share[row];
      sums.n_trees[row] += 1;
    }
  }
  return sums;
}

bool all_close(const std::vector<double>& a, const std::vector<double>& b) {
  bool holds = a.size() == b.size();
  for (std::size_t i = 0; holds && i < a.size(); ++i) holds = close(a[i], b[i], 1e-11);
  return holds;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 8 * a.size()) == 0;
}

// Sizes about the width of a step and the rows of a block.
void sums_are_those_of_the_routes() {
  InterruptFlag interrupt;
  for (const double missing_share : {0.0, 0.1})
    for (const bool subsets : {false, true}) {
      const SmallTable train = mixed_table(400, missing_share, 1);
      const std::vector<Tree> trees = grown(train, 3, subsets);
      const std::vector<std::vector<double>> values = values_of(trees);
      for (const std::size_t n_rows : {1, 7, 8, 9, 1023, 1024, 1025}) {
        const SmallTable table = mixed_table(n_rows, missing_share, 2);
        std::vector<std::vector<std::uint8_t>> asked(trees.size());
        std::vector<BaggedTree> bags;
        for (std::size_t t = 0; t < trees.size(); ++t) {
          for (std::size_t row = 0; row < n_rows; ++row) asked[t].push_back((row + t) % 3 != 0);
          bags.push_back({trees[t], values[t], {}});
          if (t > 0) bags.back().uses_row = asked[t];
        }
        for (const Unseen unseen : {Unseen::mixture, Unseen::stop}) {
          const BagSums expected = sums_of_routes(bags, table, unseen);
          const BagSums sums = sureleaf::predict_bags(bags, table.columns, n_leaf_values, true,
                                                      unseen, 1, interrupt);
          CHECK(all_close(sums.values, expected.values));
          CHECK(all_close(sums.squares, expected.squares));
          CHECK(all_close(sums.votes, expected.votes));
          CHECK(all_close(sums.imputed, expected.imputed));
          CHECK(same(sums.n_trees, expected.n_trees));
          const BagSums threads = sureleaf::predict_bags(bags, table.columns, n_leaf_values, false,
                                                         unseen, 3, interrupt);
          CHECK(same(threads.values, sums.values) && same(threads.imputed, sums.imputed));
          CHECK(threads.squares.empty() && threads.votes.empty());
        }
      }
    }
}

// A leaf alone tests no column, and all rows end in it.
void a_leaf_answers_for_all_rows() {
  InterruptFlag interrupt;
  SmallTable table;
  table.add({1.0, std::nan(""), -3.0});
  table.labels = {1, 1, 1};
  const std::vector<Tree> trees = grown(table, 2, false);
  CHECK(trees[0].size() == 1 && trees[1].size() == 1);
  const std::vector<double> values{0.25, 0.5, 0.5};
  const std::vector<BaggedTree> bags{{trees[0], values, {}}, {trees[1], values, {}}};
  const BagSums sums = sureleaf::predict_bags(bags, table.columns, n_leaf_values, true,
                                              Unseen::mixture, 2, interrupt);
  for (std::size_t row = 0; row < 3; ++row) {
    CHECK(sums.values[row * n_leaf_values] == 0.5 && sums.values[row * n_leaf_values + 1] == 1.0);
    CHECK(sums.squares[row * n_leaf_values] == 0.125);
    CHECK(sums.votes[row * n_leaf_values + 1] == 2.0 && sums.votes[row * n_leaf_values + 2] == 0.0);
    CHECK(sums.n_trees[row] == 2.0 && sums.imputed[row] == 0.0);
  }
}

}  // namespace

TESTS(bags_test) {
  sums_are_those_of_the_routes();
  a_leaf_answers_for_all_rows();
}
