// A tree grown from histograms of parts is the tree of the rows in memory, to the last bit.
#include "sureleaf/level_growth.hpp"

#include <map>

#include "check.hpp"
#include "growing.hpp"
#include "sureleaf/coding.hpp"

using checks::config_of;
using checks::SmallTable;
using sureleaf::CellLayout;
using sureleaf::CodedRows;
using sureleaf::GrowthConfig;
using sureleaf::InterruptFlag;
using sureleaf::Tree;
using sureleaf::detail::LevelGrower;

namespace {

// A mixed table as codes: the numbers of few values, and all categories.
struct CodedTable {
  sureleaf::Columns columns;
  std::vector<std::vector<double>> values;
  std::vector<std::uint8_t> codes;
  std::vector<std::vector<std::int32_t>> wide;
  CellLayout layout;

  CodedRows rows() const {
    CodedRows rows{codes, columns.n_rows, layout.first_cell.size() - wide.size(), {}};
    for (const auto& column : wide) rows.wide.emplace_back(column);
    return rows;
  }
};

SmallTable few_valued(const SmallTable& mixed) {
  SmallTable table;
  table.labels = mixed.labels;
  table.n_classes = mixed.n_classes;
  for (const std::size_t j : {1u, 2u}) table.add(mixed.numbers[j]);
  const std::int32_t n_categories[] = {2, 6, 300};
  for (std::size_t j = 0; j < 3; ++j) table.add(mixed.codes[j], n_categories[j], j == 1);
  return table;
}

CodedTable code(const SmallTable& table) {
  CodedTable coded;
  const std::size_t n = table.columns.n_rows, p = table.columns.size();
  coded.columns.n_rows = n;
  coded.values.resize(p);
  std::vector<std::size_t> small;
  for (std::size_t j = 0; j < p; ++j) {
    const sureleaf::Column& column = table.columns[j];
    if (column.n_categories <= 255) small.push_back(j);
    if (column.kind != sureleaf::Kind::numeric) continue;
    CHECK(sureleaf::find_few_values(table.numbers[j], {}, coded.values[j]));
    coded.values[j].resize(256, std::nan(""));
  }
  coded.codes.resize(n * small.size());
  std::size_t at = 0, n_bins = 0;
  std::vector<std::size_t> wide_first, wide_codes;
  for (std::size_t j = 0; j < p; ++j) {
    sureleaf::Column column = table.columns[j];
    auto n_codes = static_cast<std::size_t>(column.n_categories);
    if (column.kind == sureleaf::Kind::numeric) {
      n_codes = static_cast<std::size_t>(
          std::ranges::find_if(coded.values[j], [](double x) { return std::isnan(x); }) -
          coded.values[j].begin());
      column.value_of_code = coded.values[j].data();
      column.n_codes = n_codes;
      sureleaf::code_numbers(table.numbers[j], {coded.values[j].data(), n_codes},
                             coded.codes.data() + at, small.size());
    }
    if (column.n_categories > 255) {
      coded.wide.emplace_back();
      for (std::size_t row = 0; row < n; ++row) coded.wide.back().push_back(column.code(row));
      wide_first.push_back(n_bins * table.n_classes);
      wide_codes.push_back(n_codes);
    } else {
      for (std::size_t row = 0; column.kind != sureleaf::Kind::numeric && row < n; ++row)
        coded.codes[row * small.size() + at] = static_cast<std::uint8_t>(
            column.code(row) < 0 ? column.n_categories : column.code(row));
      column.data = reinterpret_cast<const char*>(coded.codes.data()) + at++;
      column.stride = static_cast<std::ptrdiff_t>(small.size());
      column.cell_type = sureleaf::CellType::uint8;
      coded.layout.first_cell.push_back(n_bins * table.n_classes);
      coded.layout.n_codes.push_back(n_codes);
    }
    n_bins += n_codes + 1;
    bool has_missing = false;
    for (std::size_t row = 0; row < n; ++row)
      has_missing = has_missing || std::isnan(table.columns[j].value(row));
    coded.columns.has_missing.push_back(has_missing);
    coded.columns.columns.push_back(column);
  }
  coded.columns.coded_rows = coded.codes.data();
  coded.layout.first_cell.insert(coded.layout.first_cell.end(), wide_first.begin(),
                                 wide_first.end());
  coded.layout.n_codes.insert(coded.layout.n_codes.end(), wide_codes.begin(), wide_codes.end());
  coded.layout.n_cells = n_bins * table.n_classes;
  coded.layout.n_classes = table.n_classes;
  return coded;
}

Tree grow_by_levels(const SmallTable& table, const CodedTable& coded, const GrowthConfig& config) {
  InterruptFlag interrupt;
  std::vector<double> totals(table.n_classes, 0.0);
  for (const std::int32_t label : table.labels) totals[static_cast<std::size_t>(label)] += 1;
  LevelGrower grower(coded.columns, totals, true, config);
  CHECK(grower.n_cells() == coded.layout.n_cells);
  std::vector<std::int32_t> node_of(table.labels.size(), 0), moved(table.labels.size());
  while (!grower.is_complete()) {
    const std::vector<std::int32_t> open = grower.open_nodes();
    std::vector<std::int32_t> slots(grower.n_nodes(), -1);
    for (std::size_t i = 0; i < open.size(); ++i)
      slots[static_cast<std::size_t>(open[i])] = static_cast<std::int32_t>(i);
    std::vector<std::int64_t> cells(open.size() * grower.n_cells(), 0);
    sureleaf::count_level(coded.rows(), table.labels, {}, node_of, slots, coded.layout, cells,
                          interrupt);
    std::map<std::int32_t, LevelGrower::Split> splits;
    for (std::size_t i = 0; i < open.size(); ++i)
      splits[open[i]] = grower.split<std::int64_t>(
          static_cast<std::size_t>(open[i]),
          std::span<const std::int64_t>(cells).subspan(i * grower.n_cells(), grower.n_cells()));
    std::vector<std::int32_t> column(grower.n_nodes(), -1), first(grower.n_nodes(), 0), branches;
    std::vector<std::int64_t> offset(grower.n_nodes(), 0);
    for (const auto& [node, split] : splits) {
      const auto at = static_cast<std::size_t>(node);
      column[at] = split.column;  // the wide column is the last one, as in the layout
      first[at] = static_cast<std::int32_t>(split.first_child);
      offset[at] = static_cast<std::int64_t>(branches.size());
      branches.insert(branches.end(), split.branch_of_code.begin(), split.branch_of_code.end());
    }
    sureleaf::advance_rows(coded.rows(), {column, offset, first, branches}, coded.layout, node_of,
                           moved, interrupt);
    node_of.swap(moved);
  }
  return grower.finish();
}

void check_same(const Tree& a, const Tree& b) {
  CHECK(a.feature == b.feature);
  CHECK(a.children == b.children);
  CHECK(a.category_branch == b.category_branch);
  CHECK(a.missing_branch == b.missing_branch);
  CHECK(a.branch_share == b.branch_share);
  CHECK(a.class_weights == b.class_weights);
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    CHECK(a.threshold[i] == b.threshold[i] ||
          (std::isnan(a.threshold[i]) && std::isnan(b.threshold[i])));
}

void a_tree_from_histograms_is_the_tree_of_the_rows() {
  for (const double missing_share : {0.0, 0.1}) {
    const SmallTable table = few_valued(checks::mixed_table(600, missing_share, 4));
    const CodedTable coded = code(table);
    for (std::uint8_t criterion = 0; criterion < sureleaf::Criteria::names.size(); ++criterion)
      for (const bool subsets : {false, true})
        // One branch per category needs more leaves than the widest column has categories.
        for (const std::size_t most : {std::size_t{0}, std::size_t{subsets ? 7u : 310u}}) {
          GrowthConfig config = config_of(criterion, subsets);
          config.missing = sureleaf::Missing::branch;
          config.max_leaves = most;
          const Tree expected = checks::grow(table, config);
          CHECK(expected.size() > 1);
          check_same(grow_by_levels(table, coded, config), expected);
          // The kernel grows the same tree from the codes of all rows.
          SmallTable of_codes;
          of_codes.columns = coded.columns;
          of_codes.labels = table.labels;
          of_codes.n_classes = table.n_classes;
          check_same(checks::grow(of_codes, config), expected);
        }
  }
}

void codes_are_the_first_value_that_is_not_below() {
  std::vector<std::uint8_t> codes(10, 9);
  const std::vector<double> column{-1, 0, 0.5, 2, std::nan("")}, values{0, 1};
  sureleaf::code_numbers(column, values, codes.data(), 2);
  CHECK((codes == std::vector<std::uint8_t>{0, 9, 0, 9, 1, 9, 1, 9, 2, 9}));
}

}  // namespace

TESTS(level_growth_test) {
  a_tree_from_histograms_is_the_tree_of_the_rows();
  codes_are_the_first_value_that_is_not_below();
}
