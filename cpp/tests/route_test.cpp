// Rows find their leaves, and arrays that make no tree are refused.
#include "sureleaf/route.hpp"

#include <atomic>
#include <cstring>
#include <deque>
#include <limits>

#include "check.hpp"
#include "growing.hpp"

using checks::close;
using checks::mixed_table;
using checks::SmallTable;
using sureleaf::InterruptFlag;
using sureleaf::Missing;
using sureleaf::Tree;
using sureleaf::Unseen;

namespace {

Tree grown(const SmallTable& table, bool subsets,
           sureleaf::Missing missing = sureleaf::Missing::fraction) {
  sureleaf::GrowthConfig config =
      checks::config_of(sureleaf::criterion_id<sureleaf::Gini>, subsets);
  config.missing = missing;
  return checks::grow(table, config, 2);
}

void predictions_are_the_mixtures_of_routes() {
  InterruptFlag interrupt;
  for (const std::size_t n_rows : {1, 7, 8, 9, 4095, 4096, 4097})
    for (const auto& [missing_share, missing] :
         {std::pair{0.0, Missing::fraction}, {0.1, Missing::fraction}, {0.1, Missing::branch}})
      for (const bool subsets : {false, true}) {
        const SmallTable train = mixed_table(600, missing_share, 1);
        const SmallTable table = mixed_table(n_rows, missing_share, 2);
        const Tree tree = grown(train, subsets, missing);
        std::vector<double> values;
        for (std::size_t node = 0; node < tree.size(); ++node)
          values.push_back(std::cos(static_cast<double>(node)));
        for (const Unseen unseen : {Unseen::mixture, Unseen::stop}) {
          const sureleaf::Routes routes = sureleaf::route(tree, table.columns, unseen, interrupt);
          std::vector<double> out(n_rows);
          sureleaf::predict(tree, table.columns, values, 1, unseen, 3, out.data(), interrupt);
          bool agree = true;
          for (std::size_t row = 0; row < n_rows; ++row) {
            double mean = 0, share = 0;
            for (auto i = routes.offset[row]; i < routes.offset[row + 1]; ++i) {
              const auto at = static_cast<std::size_t>(i);
              mean += routes.share[at] * values[static_cast<std::size_t>(routes.node[at])];
              share += routes.share[at];
            }
            agree = agree && close(out[row], mean, 1e-12) && close(share, 1, 1e-12) &&
                    routes.imputed_share[row] <= 1 + 1e-12;
          }
          CHECK(agree);
        }
      }
}

// Packed and unpacked trees, whole rows and rows with missing_share: each goes as it would alone.
void rows_go_together_as_they_go_alone() {
  InterruptFlag interrupt;
  for (const std::size_t n_rows : {1, 8, 3000})
    for (const bool subsets : {false, true}) {
      const SmallTable table = mixed_table(n_rows, 0.1, 3);
      const Tree tree = grown(mixed_table(600, 0.1, 1), subsets);
      for (const Unseen unseen : {Unseen::mixture, Unseen::stop}) {
        const sureleaf::Routes routes = sureleaf::route(tree, table.columns, unseen, interrupt);
        sureleaf::RowRouter alone(tree, table.columns, unseen);
        bool agree = true;
        for (std::size_t row = 0; row < n_rows; ++row) {
          auto at = static_cast<std::size_t>(routes.offset[row]);
          double imputed_share = 0;
          alone(row, [&](std::size_t node, double share, bool imputed) {
            agree = agree && static_cast<std::size_t>(routes.node[at]) == node &&
                    routes.share[at] == share;
            if (imputed) imputed_share += share;
            ++at;
          });
          agree = agree && static_cast<std::size_t>(routes.offset[row + 1]) == at &&
                  routes.imputed_share[row] == imputed_share;
        }
        CHECK(agree);
      }
    }
}

// Tables of one layout and of another, few rows and many, asked for on several threads.
void a_tree_that_is_kept_walks_as_a_new_one() {
  InterruptFlag interrupt;
  const Tree tree = grown(mixed_table(600, 0.1, 1), false);
  std::vector<double> values;
  for (std::size_t i = 0; i < 2 * tree.size(); ++i)
    values.push_back(std::sin(static_cast<double>(i)));
  std::deque<SmallTable> tables;  // whose columns must stay where they are
  for (const std::size_t n_rows : {3, 2000, 5, 1500, 2000}) {
    tables.push_back(mixed_table(n_rows, 0.1, 4));
    // Categories that the tree has not seen, so that its nodes are others.
    if (n_rows == 1500) tables.back().columns.columns.back().n_categories = 400;
  }
  const sureleaf::RoutingTree kept(tree);
  std::atomic<bool> agree{true};
  sureleaf::run_jobs(4 * tables.size(), 4, interrupt, [&](std::size_t i, std::size_t) {
    const SmallTable& table = tables[i % tables.size()];
    InterruptFlag own;
    std::vector<double> predicted(2 * table.columns.n_rows), expected(2 * table.columns.n_rows);
    sureleaf::predict(kept, table.columns, values, 2, Unseen::mixture, 2, predicted.data(), own);
    sureleaf::RowRouter alone(tree, table.columns, Unseen::mixture);
    for (std::size_t row = 0; row < table.columns.n_rows; ++row)
      alone(row, [&](std::size_t node, double share, bool) {
        for (std::size_t k = 0; k < 2; ++k) expected[2 * row + k] += share * values[2 * node + k];
      });
    if (predicted != expected) agree = false;
  });
  CHECK(agree);
}

// A chain of tests of two columns, with these thresholds in ascending order.
Tree chain_of(const std::vector<double>& thresholds) {
  Tree tree;
  tree.n_classes = 1;
  tree.child_offset = {0};
  for (std::size_t k = 0; k <= thresholds.size(); ++k)
    for (const bool is_test : {true, false}) {
      if (is_test && k == thresholds.size()) continue;
      const auto node = static_cast<std::int32_t>(tree.feature.size());
      tree.feature.push_back(is_test ? static_cast<std::int32_t>(k % 2) : -1);
      tree.threshold.push_back(is_test ? thresholds[k] : std::nan(""));
      if (is_test) tree.children.insert(tree.children.end(), {node + 1, node + 2});
      if (is_test) tree.branch_share.insert(tree.branch_share.end(), {0.25, 0.75});
      tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
    }
  tree.category_offset.assign(tree.size() + 1, 0);
  tree.missing_branch.assign(tree.size(), -1);
  tree.class_weights.assign(tree.size(), 1.0);
  return tree;
}

template <class Cell>
void check_cells_of(const std::vector<Cell>& cells, sureleaf::CellType type) {
  InterruptFlag interrupt;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> thresholds{-1e300, -1e30,  -0x1p63, -3e9,  -0x1p31, -0x1p31 + 0.5,
                                 -1,     -0.1,   0,       0.1,   1,       3.4028235677973365e38,
                                 1e300,  0x1p31, 0x1p53,  0x1p63};
  std::ranges::sort(thresholds);
  for (const std::vector<double>& own :
       {thresholds, std::vector<double>{-infinity, -0.1, 0.1, infinity}}) {
    const Tree tree = chain_of(own);
    CHECK(sureleaf::fault_in(tree, tree.size(), 2) == nullptr);
    std::vector<double> values;
    for (std::size_t node = 0; node < tree.size(); ++node)
      values.push_back(std::sin(static_cast<double>(node)));
    for (const bool by_rows : {true, false}) {
      // Each row has two neighbours of the list, as cells of two columns.
      const std::size_t n = cells.size() - 1;
      std::vector<Cell> memory(2 * n);
      for (std::size_t row = 0; row < n; ++row)
        for (std::size_t j = 0; j < 2; ++j)
          memory[by_rows ? 2 * row + j : j * n + row] = cells[row + j];
      sureleaf::Columns table;
      table.n_rows = n;
      for (std::size_t j = 0; j < 2; ++j)
        table.columns.push_back(
            {.data = reinterpret_cast<const char*>(&memory[by_rows ? j : j * n]),
             .stride = static_cast<std::ptrdiff_t>((by_rows ? 2 : 1) * sizeof(Cell)),
             .cell_type = type});
      std::vector<double> out(n), expected(n);
      sureleaf::predict(tree, table, values, 1, Unseen::mixture, 1, out.data(), interrupt);
      sureleaf::RowRouter alone(tree, table, Unseen::mixture);
      for (std::size_t row = 0; row < n; ++row)
        alone(row,
              [&](std::size_t node, double share, bool) { expected[row] += share * values[node]; });
      CHECK(out == expected);
    }
  }
}

template <class Cell>
std::vector<Cell> extremes() {
  using Limits = std::numeric_limits<Cell>;
  std::vector<Cell> cells;
  for (int times = 0; times < 3; ++times)
    for (const Cell cell : {Limits::lowest(), Limits::max(), Cell{0}, Cell{1}}) {
      cells.insert(cells.end(), {cell, static_cast<Cell>(cell / 2)});
      if constexpr (Limits::has_infinity)
        cells.insert(cells.end(), {Limits::infinity(), static_cast<Cell>(0.1), Limits::quiet_NaN(),
                                   -Limits::infinity()});
    }
  return cells;
}

void cells_of_every_type_go_as_float64_numbers_would() {
  check_cells_of(extremes<double>(), sureleaf::CellType::float64);
  check_cells_of(extremes<float>(), sureleaf::CellType::float32);
  check_cells_of(extremes<std::int64_t>(), sureleaf::CellType::int64);
  check_cells_of(extremes<std::int32_t>(), sureleaf::CellType::int32);
  check_cells_of(extremes<std::int16_t>(), sureleaf::CellType::int16);
  check_cells_of(extremes<std::int8_t>(), sureleaf::CellType::int8);
  check_cells_of(extremes<std::uint8_t>(), sureleaf::CellType::uint8);
}

// A branch that no category of the table takes is reached by rows that lack the value.
void a_branch_without_categories_is_reached() {
  InterruptFlag interrupt;
  SmallTable table;
  table.add({0, 1, sureleaf::missing_code}, 2, false);
  Tree tree;
  tree.n_classes = 1;
  tree.feature = {0, -1, -1, -1};
  tree.threshold.assign(4, std::nan(""));
  tree.child_offset = {0, 3, 3, 3, 3};
  tree.children = {1, 2, 3};
  tree.branch_share = {0.5, 0.25, 0.25};
  tree.category_offset = {0, 3, 3, 3, 3};
  tree.missing_branch.assign(4, -1);
  tree.category_branch = {0, 1, 2};
  tree.class_weights = {4, 2, 1, 1};
  const std::vector<double> values{10, 1, 2, 4};
  std::vector<double> out(3);
  sureleaf::predict(tree, table.columns, values, 1, Unseen::mixture, 1, out.data(), interrupt);
  CHECK((out == std::vector<double>{1, 2, 2}));
}

// One test of a category with three branches, the third without rows.
Tree category_tree() {
  Tree tree;
  tree.n_classes = 2;
  tree.feature = {0, -1, -1, -1};
  tree.threshold.assign(4, std::nan(""));
  tree.child_offset = {0, 3, 3, 3, 3};
  tree.children = {1, 2, 3};
  tree.branch_share = {0.75, 0.25, 0};
  tree.category_offset = {0, 4, 4, 4, 4};
  tree.missing_branch.assign(4, -1);
  tree.category_branch = {0, 1, 2, -1};
  tree.class_weights = {3, 1, 3, 0, 0, 1, 0, 0};
  return tree;
}

void unseen_and_missing_rows_go_their_ways() {
  InterruptFlag interrupt;
  SmallTable table;
  table.add({0, 1, 2, 3, sureleaf::missing_code, sureleaf::unseen_code, 99}, 4, false);
  const Tree tree = category_tree();
  CHECK(sureleaf::fault_in(tree, 4, 1) == nullptr);
  const std::vector<double> values{10, 1, 2, 3};
  std::vector<double> out(7);
  sureleaf::predict(tree, table.columns, values, 1, Unseen::mixture, 1, out.data(), interrupt);
  CHECK((out == std::vector<double>{1, 2, 3, 1.25, 1.25, 1.25, 1.25}));
  out.assign(7, 0.0);  // shares are added to what is there
  sureleaf::predict(tree, table.columns, values, 1, Unseen::stop, 1, out.data(), interrupt);
  CHECK((out == std::vector<double>{1, 2, 3, 10, 1.25, 10, 10}));
}

void arrays_that_make_no_tree_are_refused() {
  const auto fault = [](auto&& change, std::size_t n_lines = 4, std::size_t n_columns = 1) {
    Tree tree = category_tree();
    change(tree);
    return sureleaf::fault_in(tree, n_lines, n_columns) != nullptr;
  };
  CHECK(!fault([](Tree&) {}));
  CHECK(fault([](Tree&) {}, 3));
  CHECK(fault([](Tree&) {}, 4, 0));
  CHECK(fault([](Tree& tree) { tree = Tree(); }));
  CHECK(fault([](Tree& tree) { tree.n_classes = 0; }));
  CHECK(fault([](Tree& tree) { tree.threshold.pop_back(); }));
  CHECK(fault([](Tree& tree) { tree.child_offset[1] = 4; }));
  CHECK(fault([](Tree& tree) { tree.child_offset[0] = 1; }));
  CHECK(fault([](Tree& tree) { tree.child_offset.pop_back(); }));
  CHECK(fault([](Tree& tree) { tree.branch_share.pop_back(); }));
  CHECK(fault([](Tree& tree) { tree.category_offset[2] = 3; }));
  CHECK(fault([](Tree& tree) { tree.children[1] = 0; }));  // a circle
  CHECK(fault([](Tree& tree) { tree.children[1] = 1; }));  // two parents
  CHECK(fault([](Tree& tree) { tree.children[2] = 4; }));  // no such node
  CHECK(fault([](Tree& tree) { tree.children[0] = -1; }));
  CHECK(fault([](Tree& tree) { tree.feature[1] = 0; }));  // a test without branches
  CHECK(fault([](Tree& tree) { tree.feature[0] = 7; }));
  CHECK(fault([](Tree& tree) { tree.category_branch[0] = 3; }));
  CHECK(fault([](Tree& tree) { tree.category_branch[0] = -2; }));
  CHECK(fault([](Tree& tree) {  // a threshold with three branches
    tree.category_branch.clear();
    tree.category_offset.assign(5, 0);
  }));
}

}  // namespace

TESTS(route_test) {
  predictions_are_the_mixtures_of_routes();
  rows_go_together_as_they_go_alone();
  a_tree_that_is_kept_walks_as_a_new_one();
  cells_of_every_type_go_as_float64_numbers_would();
  a_branch_without_categories_is_reached();
  unseen_and_missing_rows_go_their_ways();
  arrays_that_make_no_tree_are_refused();
}
