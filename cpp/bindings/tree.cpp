// Tables and trees. Shapes and types are checked here, the work runs without the GIL, and Ctrl-C is
// checked now and then.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gil.hpp"
#include "parts.hpp"
#include "sureleaf/bags.hpp"
#include "sureleaf/coding.hpp"
#include "sureleaf/grow.hpp"
#include "sureleaf/level_growth.hpp"
#include "sureleaf/pessimistic.hpp"
#include "sureleaf/prune.hpp"
#include "sureleaf/route.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using sureleaf::Columns;
using sureleaf::GrowthConfig;
using sureleaf::InterruptFlag;
using sureleaf::RoutingTree;
using sureleaf::run;
using sureleaf::Tree;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Input2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<nb::numpy, T>;

template <class T>
Output<T> give(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Output<T>(owned->data(), shape, owner);
}

template <class T>
Output<T> give(std::vector<T> values) {
  const std::size_t n = values.size();
  return give(std::move(values), {n});
}

template <class T>
std::vector<T> copy_of(const Input<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

template <class T>
std::span<const T> view(const Input<T>& array) {
  return {array.data(), array.shape(0)};
}

// An object of a list as an array.
template <class Array>
Array array_of(const nb::object& owner) {
  Array array;
  if (!nb::try_cast(owner, array)) throw nb::type_error("a column has the wrong type or shape");
  return array;
}

constexpr std::size_t max_rows = std::size_t{1} << 40;  // a table without columns has any number
constexpr std::size_t max_classes = std::size_t{1} << 24;
constexpr std::size_t max_threads = std::size_t{1} << 16;
constexpr std::size_t max_histogram = std::size_t{1} << 30;  // cells of a level, 8 GB

// Results do not depend on the number of threads; far more than there are cores only cost time.
std::size_t checked_threads(std::size_t n_threads) {
  if (n_threads < 1 || n_threads > max_threads)
    throw std::invalid_argument("n_threads must be between 1 and 65536");
  return std::min<std::size_t>(n_threads, 4 * std::max(2u, std::thread::hardware_concurrency()));
}

// A table whose arrays are kept alive by this object.
struct Table {
  Columns columns;
  std::vector<nb::object> owners;
  mutable bool has_sound_codes = false;  // once they were found so
};

sureleaf::CellType cell_type_of(nb::dlpack::dtype type) {
  using sureleaf::CellType;
  constexpr std::array types{CellType::float64, CellType::float32, CellType::int64, CellType::int32,
                             CellType::int16,   CellType::int8,    CellType::uint8};
  for (const CellType cell_type : types)
    if (sureleaf::with_cell_type(cell_type,
                                 [&](auto cell) { return type == nb::dtype<decltype(cell)>(); }))
      return cell_type;
  throw std::invalid_argument(
      "a column must hold float64, float32, int64, int32, int16, int8 or uint8");
}

Table make_table(const nb::typed<nb::list, nb::object>& arrays,
                 const std::vector<std::int32_t>& n_categories, const std::vector<bool>& ordered,
                 std::size_t n_rows) {
  if (arrays.size() != n_categories.size() || n_categories.size() != ordered.size())
    throw std::invalid_argument("columns, n_categories and ordered differ in length");
  if (n_rows > max_rows) throw std::invalid_argument("n_rows is too large");
  Table table;
  table.columns.n_rows = n_rows;
  for (std::size_t j = 0; j < n_categories.size(); ++j) {
    sureleaf::Column column;
    const nb::object owner = arrays[j];
    const auto array = array_of<nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>>(owner);
    if (array.shape(0) != n_rows) throw std::invalid_argument("a column has another length");
    column.data = static_cast<const char*>(array.data());
    column.stride = array.stride(0) * static_cast<std::ptrdiff_t>(array.itemsize());
    const bool is_coded = n_categories[j] >= 0;
    if (is_coded) {
      column.kind = ordered[j] ? sureleaf::Kind::ordered : sureleaf::Kind::categorical;
      column.n_categories = n_categories[j];
    }
    column.cell_type = cell_type_of(array.dtype());
    const bool is_code_type = column.cell_type == sureleaf::CellType::int32 ||
                              column.cell_type == sureleaf::CellType::int8;
    if (is_coded && !is_code_type) throw std::invalid_argument("codes must be int32 or int8");
    table.columns.columns.push_back(column);
    table.owners.push_back(owner);
  }
  return table;
}

// A table whose columns are those of one array; ten thousand columns cost microseconds.
Table make_matrix(const nb::object& owner) {
  const auto array = array_of<nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>>(owner);
  Table table;
  const auto size = static_cast<std::ptrdiff_t>(array.itemsize());
  sureleaf::Column column;
  column.cell_type = cell_type_of(array.dtype());
  column.data = static_cast<const char*>(array.data());
  column.stride = array.stride(0) * size;
  table.columns.n_rows = array.shape(0);
  const std::ptrdiff_t step = array.stride(1) * size;
  table.columns.columns.reserve(array.shape(1));
  for (std::size_t j = 0; j < array.shape(1); ++j, column.data += step)
    table.columns.columns.push_back(column);
  table.owners.push_back(owner);
  return table;
}

// A table of small codes: uint8 codes row by row, for numbers and for up to 255 categories, and one
// int32 array per column of more categories. `values` has the value of each code of a column of
// numbers, or None; n_categories is -1 for numbers.
Table make_coded(const nb::ndarray<nb::ro, const std::uint8_t, nb::ndim<2>, nb::c_contig>& codes,
                 const nb::typed<nb::list, nb::object>& wide,
                 const nb::typed<nb::list, nb::object>& values,
                 const std::vector<std::int32_t>& n_categories, const std::vector<bool>& ordered,
                 const std::vector<bool>& are_ranges, const std::vector<bool>& has_missing) {
  using sureleaf::Kind;
  const std::size_t p = n_categories.size(), n_rows = codes.shape(0), n_small = codes.shape(1);
  if (values.size() != p || ordered.size() != p || are_ranges.size() != p ||
      has_missing.size() != p || n_small + wide.size() != p)
    throw std::invalid_argument("the columns of a coded table differ in number");
  Table table;
  table.owners.push_back(nb::cast(codes));
  table.columns.n_rows = n_rows;
  static constexpr std::uint8_t nothing = 0;
  table.columns.coded_rows = n_rows * n_small == 0 ? &nothing : codes.data();
  table.columns.has_missing = has_missing;
  std::size_t at_small = 0, at_wide = 0;
  for (std::size_t j = 0; j < p; ++j) {
    sureleaf::Column column;
    const bool is_number = n_categories[j] < 0;
    if (!is_number && n_categories[j] > 255) {
      if (at_wide == wide.size()) throw std::invalid_argument("a wide column is missing");
      const nb::object owner = wide[at_wide++];
      const auto array = array_of<Input<std::int32_t>>(owner);
      if (array.shape(0) != n_rows) throw std::invalid_argument("a column has another length");
      column.data = reinterpret_cast<const char*>(array.data());
      column.stride = sizeof(std::int32_t);
      column.cell_type = sureleaf::CellType::int32;
      table.owners.push_back(owner);
    } else {
      if (at_small == n_small) throw std::invalid_argument("a column of codes is missing");
      column.data = reinterpret_cast<const char*>(codes.data()) + at_small++;
      column.stride = static_cast<std::ptrdiff_t>(n_small);
      column.cell_type = sureleaf::CellType::uint8;
    }
    if (is_number) {
      // One more value, NaN, and further ones up to 256, so that no code leaves the array.
      auto* owned = new std::vector<double>(256, std::numeric_limits<double>::quiet_NaN());
      nb::capsule owner(owned,
                        [](void* q) noexcept { delete static_cast<std::vector<double>*>(q); });
      table.owners.push_back(owner);
      const auto given = array_of<Input<double>>(values[j]);
      if (given.shape(0) > 255) throw std::invalid_argument("a column has more than 255 codes");
      std::copy(given.data(), given.data() + given.shape(0), owned->begin());
      column.value_of_code = owned->data();
      column.n_codes = given.shape(0);
      column.are_ranges = are_ranges[j];
    } else {
      column.kind = ordered[j] ? Kind::ordered : Kind::categorical;
      column.n_categories = n_categories[j];
    }
    table.columns.columns.push_back(column);
  }
  return table;
}

// The number of codes of a column of a coded table.
std::size_t n_codes_of(const sureleaf::Column& column) {
  return column.is_coded_number() ? column.n_codes : static_cast<std::size_t>(column.n_categories);
}

// Trees are grown and pruned by codes without further checks.
void check_coded_rows(const Table& table) {
  const Columns& columns = table.columns;
  if (columns.coded_rows == nullptr) return;
  std::vector<std::uint8_t> highest;
  for (const sureleaf::Column& column : columns.columns)
    if (column.cell_type == sureleaf::CellType::uint8)
      highest.push_back(static_cast<std::uint8_t>(n_codes_of(column)));
  const std::size_t n = highest.size();
  bool are_sound = true;
  for (std::size_t row = 0; row < columns.n_rows; ++row) {
    const std::uint8_t* codes = columns.coded_rows + row * n;
    for (std::size_t c = 0; c < n; ++c) are_sound = are_sound && codes[c] <= highest[c];
  }
  if (!are_sound) throw std::invalid_argument("a code is not one of its column");
}
void check_codes(const Table& table) {
  check_coded_rows(table);
  for (const sureleaf::Column& column : table.columns.columns) {
    if (column.kind == sureleaf::Kind::numeric) continue;
    for (std::size_t row = 0; row < table.columns.n_rows; ++row)
      if (column.code(row) >= column.n_categories || column.code(row) < sureleaf::unseen_code)
        throw std::invalid_argument("a code is not one of the categories");
  }
}

// Whether the tests of a tree are those of the columns of a table.
void check_fits(const std::vector<sureleaf::ColumnTest>& tests, const Table& table) {
  for (const sureleaf::ColumnTest& test : tests) {
    const auto j = static_cast<std::size_t>(test.feature);
    if (j >= table.columns.size()) throw std::invalid_argument("a test has no column in the table");
    const sureleaf::Column& column = table.columns[j];
    if (test.n_categories !=
        (column.has_thresholds() ? 0 : static_cast<std::size_t>(column.n_categories)))
      throw std::invalid_argument("a node tests other categories than its column has");
  }
}
void check_fits(const Tree& tree, const Table& table) {
  check_fits(sureleaf::column_tests(tree), table);
}
void check_fits(const RoutingTree& tree, const Table& table) { check_fits(tree.tests(), table); }

struct SortedTable {
  sureleaf::Presorted presorted;
  bool is_used_up = false;
};

// The index of a word in a table of words.
template <std::size_t n>
std::size_t index_of(const std::array<std::string_view, n>& words, std::string_view word,
                     const char* argument) {
  for (std::size_t i = 0; i < n; ++i)
    if (words[i] == word) return i;
  std::string message = std::string(argument) + " must be one of";
  for (const std::string_view known : words) message += " '" + std::string(known) + "'";
  throw std::invalid_argument(message + "; got '" + std::string(word) + "'");
}

constexpr std::array<std::string_view, 2> categorical_splits{"multiway", "subset"};
constexpr std::array<std::string_view, 2> missing_rules{"fraction", "branch"};
constexpr std::array<std::string_view, 3> threshold_rules{"c45", "midpoint", "observed"};

GrowthConfig make_config(std::string_view criterion, std::string_view categorical_split,
                         double min_samples_leaf, std::optional<std::int64_t> max_depth,
                         std::string_view missing, std::optional<std::string_view> thresholds,
                         std::optional<std::size_t> max_leaves,
                         std::optional<std::size_t> max_features, std::uint64_t seed,
                         std::uint64_t tree, double category_penalty,
                         const std::optional<Input2<std::int8_t>>& monotone) {
  for (const double number : {min_samples_leaf, category_penalty})
    if (std::isnan(number)) throw std::invalid_argument("a number of the rules is NaN");
  if (max_depth && *max_depth < 0) throw std::invalid_argument("max_depth must not be negative");
  GrowthConfig config;
  config.criterion =
      static_cast<std::uint8_t>(index_of(sureleaf::Criteria::names, criterion, "criterion"));
  config.categorical_split = static_cast<sureleaf::CategoricalSplit>(
      index_of(categorical_splits, categorical_split, "categorical_split"));
  config.min_samples_leaf = min_samples_leaf;
  if (max_depth) config.max_depth = *max_depth;
  config.missing = static_cast<sureleaf::Missing>(index_of(missing_rules, missing, "missing"));
  if (thresholds)
    config.thresholds =
        static_cast<sureleaf::ThresholdRule>(index_of(threshold_rules, *thresholds, "thresholds"));
  if (config.thresholds == sureleaf::ThresholdRule::c45 && !config.has_c45_rules())
    throw std::invalid_argument("thresholds='c45' needs criterion='gain_ratio'");
  if (max_leaves == 0 || max_features == 0)
    throw std::invalid_argument("max_leaves and max_features must be at least 1, or None");
  config.max_leaves = max_leaves.value_or(0);
  config.max_features = max_features.value_or(0);
  config.seed = seed;
  config.tree = tree;
  config.category_penalty = category_penalty;
  if (monotone)
    for (std::size_t i = 0; i < monotone->size(); ++i)
      if (monotone->data()[i] < -1 || monotone->data()[i] > 1)
        throw std::invalid_argument("monotone must hold -1, 0 and 1");
  if (monotone) config.monotone.assign(monotone->data(), monotone->data() + monotone->size());
  return config;
}

void bind_config(nb::module_& module) {
  nb::class_<GrowthConfig>(module, "GrowthConfig", "The rules by which a tree is grown.")
      .def(nb::new_(&make_config), nb::kw_only(), "criterion"_a = "gain_ratio",
           "categorical_split"_a = "multiway", "min_samples_leaf"_a = 2.0,
           "max_depth"_a.none() = nb::none(), "missing"_a = "fraction",
           "thresholds"_a.none() = nb::none(), "max_leaves"_a.none() = nb::none(),
           "max_features"_a.none() = nb::none(), "seed"_a = 0, "tree"_a = 0,
           "category_penalty"_a = 0.0, "monotone"_a.none() = nb::none());
  module.def(
      "criterion_names",
      [] {
        return std::vector<std::string>(sureleaf::Criteria::names.begin(),
                                        sureleaf::Criteria::names.end());
      },
      "The criteria that GrowthConfig takes.");
}

void check_labels(const Input<std::int32_t>& labels, std::size_t n_rows, std::size_t n_classes) {
  if (n_classes < 1 || n_classes > max_classes)
    throw std::invalid_argument("n_classes is out of range");
  if (labels.shape(0) != n_rows) throw std::invalid_argument("labels differ in length");
  for (const std::int32_t label : view(labels))
    if (label < 0 || static_cast<std::size_t>(label) >= n_classes)
      throw std::invalid_argument("a label is out of range");
}

void check_weights(std::span<const double> weights) {
  for (const double weight : weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw std::invalid_argument("a weight is negative or not finite");
}

template <class T>
std::span<const T> optional_view(const std::optional<Input<T>>& array, std::size_t n_rows) {
  if (!array) return {};
  if (array->shape(0) != n_rows) throw std::invalid_argument("weights differ in length");
  if constexpr (std::is_floating_point_v<T>) check_weights(view(*array));
  return view(*array);
}

Tree grow(SortedTable& table, const Input<std::int32_t>& labels, std::size_t n_classes,
          const GrowthConfig& config, const std::optional<Input<std::uint32_t>>& counts,
          const std::optional<Input<double>>& weights, bool are_copies, std::size_t n_threads,
          bool use_up, const sureleaf::detail::NodeStart* start) {
  const std::size_t n_rows = table.presorted.table.n_rows;
  check_labels(labels, n_rows, n_classes);
  n_threads = checked_threads(n_threads);
  if (config.is_monotone() && config.monotone.size() != table.presorted.table.size() * n_classes)
    throw std::invalid_argument("monotone must have one sign per column and class");
  const sureleaf::RowWeights row_weights{optional_view(counts, n_rows),
                                         optional_view(weights, n_rows), are_copies};
  // Only one of several threads can use it up.
  const std::atomic_ref<bool> is_used_up(table.is_used_up);
  if (use_up ? is_used_up.exchange(true) : is_used_up.load())
    throw std::invalid_argument("the orders of the table were used up");
  return run([&](InterruptFlag& interrupt) {
    return sureleaf::grow(table.presorted, view(labels), n_classes, row_weights, config, n_threads,
                          use_up, interrupt, start);
  });
}

// ---- level by level
// ------------------------------------------------------------------------------

sureleaf::CodedRows coded_rows_of(const Table& table) {
  const Columns& columns = table.columns;
  if (columns.coded_rows == nullptr) throw std::invalid_argument("the table has no codes");
  sureleaf::CodedRows rows;
  rows.n_rows = columns.n_rows;
  for (const sureleaf::Column& column : columns.columns) {
    if (column.cell_type == sureleaf::CellType::uint8)
      ++rows.n_small;
    else
      rows.wide.emplace_back(reinterpret_cast<const std::int32_t*>(column.data), rows.n_rows);
  }
  rows.codes = {columns.coded_rows, rows.n_rows * rows.n_small};
  return rows;
}

// Histograms are in the order of the columns; rows have the wide columns behind the small ones.
struct Layout {
  sureleaf::CellLayout cells;
  std::vector<std::int32_t> position_of_column;
};

Layout layout_of(const Table& table, std::size_t n_classes) {
  Layout layout;
  std::vector<std::size_t> first(table.columns.size());
  std::size_t n_bins = 0;
  for (std::size_t j = 0; j < first.size(); ++j) {
    first[j] = n_bins * n_classes;
    n_bins += n_codes_of(table.columns[j]) + 1;
  }
  layout.position_of_column.resize(first.size());
  for (const bool is_wide : {false, true})
    for (std::size_t j = 0; j < first.size(); ++j) {
      if ((table.columns[j].cell_type != sureleaf::CellType::uint8) != is_wide) continue;
      layout.position_of_column[j] = static_cast<std::int32_t>(layout.cells.first_cell.size());
      layout.cells.first_cell.push_back(first[j]);
      layout.cells.n_codes.push_back(n_codes_of(table.columns[j]));
    }
  layout.cells.n_cells = n_bins * n_classes;
  layout.cells.n_classes = n_classes;
  return layout;
}

// Rows are counted and moved by codes without further checks, level by level.
void check_codes_once(const Table& table) {
  const std::atomic_ref<bool> is_known(table.has_sound_codes);
  if (is_known.load()) return;
  check_codes(table);
  is_known.store(true);
}

// Sums of them must not overflow.
void check_weights(std::span<const std::int64_t> weights) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t total = 0;
  for (const std::int64_t weight : weights) {
    if (weight < 0 || weight > most - total)
      throw std::invalid_argument("weights are negative, or their sum is above 2^62");
    total += weight;
  }
}

void check_nodes(const Input<std::int32_t>& node_of, std::size_t n_rows, std::size_t n_nodes) {
  if (node_of.shape(0) != n_rows) throw std::invalid_argument("nodes of rows differ in length");
  for (const std::int32_t node : view(node_of))
    if (node < 0 || static_cast<std::size_t>(node) >= n_nodes)
      throw std::invalid_argument("a row is in no node");
}

Output<std::int64_t> count_level(const Table& table, const Input<std::int32_t>& labels,
                                 std::size_t n_classes,
                                 const std::optional<Input<std::int64_t>>& weights,
                                 const Input<std::int32_t>& node_of,
                                 const Input<std::int32_t>& slot_of_node, std::size_t n_slots) {
  const std::size_t n_rows = table.columns.n_rows;
  check_labels(labels, n_rows, n_classes);
  const Layout layout = layout_of(table, n_classes);
  check_nodes(node_of, n_rows, slot_of_node.shape(0));
  check_codes_once(table);
  if (n_slots > slot_of_node.shape(0)) throw std::invalid_argument("there are slots without node");
  for (const std::int32_t slot : view(slot_of_node))
    if (slot < -1 || slot >= static_cast<std::int64_t>(n_slots))
      throw std::invalid_argument("a slot is out of range");
  if (weights && weights->shape(0) != n_rows)
    throw std::invalid_argument("weights differ in length");
  if (weights) check_weights(view(*weights));
  if (n_slots > 0 && layout.cells.n_cells > max_histogram / n_slots)
    throw std::invalid_argument("the histograms are too large");
  std::vector<std::int64_t> cells(n_slots * layout.cells.n_cells, 0);
  run([&](InterruptFlag& interrupt) {
    sureleaf::count_level(coded_rows_of(table), view(labels),
                          weights ? view(*weights) : std::span<const std::int64_t>{}, view(node_of),
                          view(slot_of_node), layout.cells, cells, interrupt);
    return true;
  });
  return give(std::move(cells), {n_slots, layout.cells.n_cells});
}

Output<std::int32_t> advance_rows(const Table& table, std::size_t n_classes,
                                  const Input<std::int32_t>& node_of,
                                  const Input<std::int32_t>& column,
                                  const Input<std::int64_t>& offset,
                                  const Input<std::int32_t>& first_child,
                                  const Input<std::int32_t>& branches) {
  const Layout layout = layout_of(table, n_classes);
  const std::size_t n_nodes = column.shape(0);
  check_nodes(node_of, table.columns.n_rows, n_nodes);
  check_codes_once(table);
  std::int32_t highest_branch = 0;
  for (const std::int32_t branch : view(branches))
    highest_branch = std::max(highest_branch, branch);
  if (offset.shape(0) != n_nodes || first_child.shape(0) != n_nodes)
    throw std::invalid_argument("splits differ in length");
  std::vector<std::int32_t> positions(n_nodes, -1);
  for (std::size_t node = 0; node < n_nodes; ++node) {
    const std::int32_t j = column.data()[node];
    if (j < 0) continue;
    if (static_cast<std::size_t>(j) >= table.columns.size())
      throw std::invalid_argument("a split has no column in the table");
    positions[node] = layout.position_of_column[static_cast<std::size_t>(j)];
    const std::size_t n_branches = n_codes_of(table.columns[static_cast<std::size_t>(j)]) + 1;
    if (n_branches > branches.shape(0) || offset.data()[node] < 0 ||
        static_cast<std::size_t>(offset.data()[node]) > branches.shape(0) - n_branches)
      throw std::invalid_argument("a split has too few branches");
    const std::int32_t first = first_child.data()[node];
    if (first < 0 || first > std::numeric_limits<std::int32_t>::max() - highest_branch)
      throw std::invalid_argument("a child is out of range");
  }
  std::vector<std::int32_t> moved(table.columns.n_rows);
  run([&](InterruptFlag& interrupt) {
    sureleaf::advance_rows(coded_rows_of(table),
                           {positions, view(offset), view(first_child), view(branches)},
                           layout.cells, view(node_of), moved, interrupt);
    return true;
  });
  return give(std::move(moved));
}

void bind_level_growth(nb::module_& module) {
  using sureleaf::detail::LevelGrower;
  using sureleaf::detail::NodeStart;
  module.def("make_coded", &make_coded, nb::kw_only(), "codes"_a, "wide"_a, "values"_a,
             "n_categories"_a, "ordered"_a, "are_ranges"_a, "has_missing"_a,
             "A table of small codes, without a copy.");
  module.def("count_level", &count_level, "table"_a, "labels"_a, "n_classes"_a, "weights"_a.none(),
             "node_of"_a, "slot_of_node"_a, "n_slots"_a,
             "Class counts per code of every column, one line per slot.");
  module.def("advance_rows", &advance_rows, "table"_a, "n_classes"_a, "node_of"_a, "column"_a,
             "offset"_a, "first_child"_a, "branches"_a, "The child of its node for every row.");
  using NodeStartState =
      std::tuple<std::int64_t, std::uint64_t, std::vector<double>, std::vector<double>,
                 std::vector<std::uint64_t>, double, std::vector<std::vector<std::uint32_t>>>;
  nb::class_<NodeStart>(module, "NodeStart", "Where a tree starts below a node of a larger one.")
      .def("__getstate__",
           [](const NodeStart& start) {
             return NodeStartState{start.depth,        start.key,       start.bounds.lower,
                                   start.bounds.upper, start.exhausted, start.total_weight,
                                   start.first_rows};
           })
      .def("__setstate__", [](NodeStart& self, const NodeStartState& state) {
        const auto& [depth, key, lower, upper, exhausted, total_weight, first_rows] = state;
        new (&self) NodeStart{depth, key, {lower, upper}, exhausted, total_weight, first_rows};
      });
  nb::class_<LevelGrower>(module, "LevelGrower", "A tree that is grown from histograms.")
      .def(
          "__init__",
          [](LevelGrower* self, const Table& table, const Input<double>& class_weights,
             bool are_whole, const GrowthConfig& config) {
            if (table.columns.coded_rows == nullptr)
              throw std::invalid_argument("the table has no codes");
            if (class_weights.shape(0) < 1) throw std::invalid_argument("there are no classes");
            check_weights(view(class_weights));
            for (const double weight : view(class_weights))
              if (are_whole && weight > 0x1p53) throw std::invalid_argument("a count is too large");
            if (config.is_monotone() &&
                config.monotone.size() != table.columns.size() * class_weights.shape(0))
              throw std::invalid_argument("monotone must have one sign per column and class");
            new (self) LevelGrower(table.columns, copy_of(class_weights), are_whole, config);
          },
          "table"_a, "class_weights"_a, "are_whole"_a, "config"_a, nb::keep_alive<1, 2>())
      .def_prop_ro("n_cells", &LevelGrower::n_cells)
      .def_prop_ro("n_nodes", &LevelGrower::n_nodes)
      .def_prop_ro("is_complete", &LevelGrower::is_complete)
      .def("open_nodes", [](const LevelGrower& grower) { return give(grower.open_nodes()); })
      .def(
          "split",
          [](LevelGrower& grower, std::size_t node, const Input<std::int64_t>& counts) {
            check_weights(view(counts));
            const LevelGrower::Split split = grower.split<std::int64_t>(node, view(counts));
            return std::make_tuple(split.column, split.first_child, split.n_branches,
                                   give(split.branch_of_code));
          },
          "node"_a, "counts"_a, "Split an open node by the counts of its rows.")
      .def(
          "split_weighted",
          [](LevelGrower& grower, std::size_t node, const Input<double>& weights) {
            check_weights(view(weights));
            const LevelGrower::Split split = grower.split<double>(node, view(weights));
            return std::make_tuple(split.column, split.first_child, split.n_branches,
                                   give(split.branch_of_code));
          },
          "node"_a, "weights"_a, "Split an open node by the weights of its rows.")
      .def("start_below", &LevelGrower::start_below, "node"_a,
           "Where the tree of the rows of an open node starts; the node is no longer open.")
      .def("graft", &LevelGrower::graft, "node"_a, "tree"_a, "Put a tree in the place of a node.")
      .def("finish", &LevelGrower::finish, "The tree.");
}

sureleaf::Unseen unseen_of(bool stop) {
  return stop ? sureleaf::Unseen::stop : sureleaf::Unseen::mixture;
}

// A tree from its arrays. Every number is checked, so that no file can make routing leave the
// arrays.
Tree make_tree(const Input<std::int32_t>& feature, const Input<double>& threshold,
               const Input<std::int64_t>& child_offset, const Input<std::int32_t>& children,
               const Input<double>& branch_share, const Input<std::int64_t>& category_offset,
               const Input<std::int32_t>& category_branch,
               const Input<std::int32_t>& missing_branch, const Input2<double>& class_weights,
               std::size_t n_columns) {
  Tree tree;
  tree.n_classes = class_weights.shape(1);
  tree.feature = copy_of(feature);
  tree.threshold = copy_of(threshold);
  tree.child_offset = copy_of(child_offset);
  tree.children = copy_of(children);
  tree.branch_share = copy_of(branch_share);
  tree.category_offset = copy_of(category_offset);
  tree.category_branch = copy_of(category_branch);
  tree.missing_branch = copy_of(missing_branch);
  tree.class_weights.assign(class_weights.data(), class_weights.data() + class_weights.size());
  if (const char* fault = sureleaf::fault_in(tree, class_weights.shape(0), n_columns))
    throw std::invalid_argument(fault);
  return tree;
}

using Sums =
    std::tuple<Output<double>, Output<double>, Output<double>, Output<double>, Output<double>>;

// `uses_row` has one line per tree and one flag per row.
Sums predict_bags(const std::vector<const Tree*>& trees, const std::vector<Input2<double>>& values,
                  const std::optional<Input2<std::uint8_t>>& uses_row, const Table& table,
                  bool with_details, bool stop_at_unseen, std::size_t n_threads) {
  const std::size_t n_rows = table.columns.n_rows;
  if (trees.empty() || trees.size() != values.size())
    throw std::invalid_argument("one array of values per tree is needed");
  if (uses_row && (uses_row->shape(0) != trees.size() || uses_row->shape(1) != n_rows))
    throw std::invalid_argument("one flag per tree and row is needed");
  n_threads = checked_threads(n_threads);
  const std::size_t n_values = values[0].shape(1);
  if (n_values > max_classes) throw std::invalid_argument("there are too many values");
  std::vector<sureleaf::BaggedTree> bags;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (trees[t] == nullptr) throw std::invalid_argument("a tree is None");
    check_fits(*trees[t], table);
    if (values[t].shape(0) != trees[t]->size() || values[t].shape(1) != n_values)
      throw std::invalid_argument("one line of values per node is needed");
    bags.push_back({*trees[t], {values[t].data(), values[t].size()}, {}});
    if (uses_row) bags.back().uses_row = {uses_row->data() + t * n_rows, n_rows};
  }
  sureleaf::BagSums sums = run([&](InterruptFlag& interrupt) {
    return sureleaf::predict_bags(bags, table.columns, n_values, with_details,
                                  unseen_of(stop_at_unseen), n_threads, interrupt);
  });
  const std::size_t n_detailed = with_details ? n_rows : 0;
  return {give(std::move(sums.values), {n_rows, n_values}),
          give(std::move(sums.squares), {n_detailed, n_values}),
          give(std::move(sums.votes), {n_detailed, n_values}), give(std::move(sums.imputed)),
          give(std::move(sums.n_trees))};
}

}  // namespace

void bind_tree(nb::module_& module) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const sureleaf::detail::TooManyNodes& error) {
      PyErr_SetString(PyExc_OverflowError, error.what());
    }
  });

  nb::class_<sureleaf::StopFlag>(module, "StopFlag",
                                 "Stops the calls of threads that watch it, by KeyboardInterrupt.")
      .def(nb::init<>())
      .def("watch", &sureleaf::StopFlag::watch, "Let the calls of this thread watch the flag.")
      .def("stop", &sureleaf::StopFlag::stop, "Stop all calls that watch the flag.");

  nb::class_<Table>(module, "Table", "Columns as the kernel reads them; keeps their arrays alive.")
      .def_prop_ro("n_rows", [](const Table& table) { return table.columns.n_rows; });
  module.def("make_table", &make_table, "columns"_a, "n_categories"_a, "ordered"_a, "n_rows"_a,
             "Numbers where n_categories is -1, int32 or int8 codes elsewhere.");
  module.def("make_matrix", &make_matrix, "array"_a, "A table of the columns of one array.");

  nb::class_<SortedTable>(module, "SortedTable", "A table with the order of its columns.")
      .def_prop_ro(
          "narrow_columns",
          [](const SortedTable& table) {
            std::vector<std::size_t> columns;
            for (std::size_t j = 0; j < table.presorted.columns.size(); ++j)
              if (!table.presorted.columns[j].gaps_are_wide) columns.push_back(j);
            return columns;
          },
          "Columns with different values that C4.5 does not separate.");
  module.def(
      "presort",
      [](const Table& table, std::size_t n_threads) {
        check_codes(table);
        n_threads = checked_threads(n_threads);
        return run([&](InterruptFlag& interrupt) {
          return SortedTable{sureleaf::presort(table.columns, n_threads, interrupt)};
        });
      },
      "table"_a, "n_threads"_a, nb::keep_alive<0, 1>(),
      "Find the order of every column, once for all trees grown on the table.");

  module.def(
      "row_fingerprints",
      [](const Table& table, const Input<std::int32_t>& labels, std::size_t n_threads) {
        if (labels.shape(0) != table.columns.n_rows)
          throw std::invalid_argument("labels differ in length");
        check_codes(table);
        n_threads = checked_threads(n_threads);
        return give(run([&](InterruptFlag& interrupt) {
          return sureleaf::row_fingerprints(table.columns, view(labels), n_threads, interrupt);
        }));
      },
      "table"_a, "labels"_a, "n_threads"_a,
      "A number per row that its cells and its label determine.");

  constexpr auto owned = nb::rv_policy::move;  // each array is a copy with its own memory
  nb::class_<Tree>(module, "Tree", "A finished tree as flat arrays, nodes in preorder.")
      .def_prop_ro("n_classes", [](const Tree& tree) { return tree.n_classes; })
      .def_prop_ro(
          "feature", [](const Tree& tree) { return give(tree.feature); }, owned)
      .def_prop_ro(
          "threshold", [](const Tree& tree) { return give(tree.threshold); }, owned)
      .def_prop_ro(
          "child_offset", [](const Tree& tree) { return give(tree.child_offset); }, owned)
      .def_prop_ro(
          "children", [](const Tree& tree) { return give(tree.children); }, owned)
      .def_prop_ro(
          "branch_share", [](const Tree& tree) { return give(tree.branch_share); }, owned)
      .def_prop_ro(
          "category_offset", [](const Tree& tree) { return give(tree.category_offset); }, owned)
      .def_prop_ro(
          "category_branch", [](const Tree& tree) { return give(tree.category_branch); }, owned)
      .def_prop_ro(
          "missing_branch", [](const Tree& tree) { return give(tree.missing_branch); }, owned)
      .def_prop_ro(
          "class_weights",
          [](const Tree& tree) { return give(tree.class_weights, {tree.size(), tree.n_classes}); },
          owned);
  module.def("make_tree", &make_tree, nb::kw_only(), "feature"_a, "threshold"_a, "child_offset"_a,
             "children"_a, "branch_share"_a, "category_offset"_a, "category_branch"_a,
             "missing_branch"_a, "class_weights"_a, "n_columns"_a,
             "A tree from its arrays; ValueError if they are inconsistent.");

  bind_config(module);
  bind_level_growth(module);
  module.def("grow", &grow, "table"_a, "labels"_a, "n_classes"_a, "config"_a, nb::kw_only(),
             "counts"_a.none() = nb::none(), "weights"_a.none() = nb::none(),
             "are_copies"_a = false, "n_threads"_a = 1, "use_up"_a = false,
             "start"_a.none() = nb::none(),
             "Grow a tree. `use_up` lets it take the table's orders; with `are_copies` a row of "
             "count k stands for k rows, to the last digit.");

  module.def(
      "collapse_marks", [](const Tree& tree) { return give(sureleaf::collapse_marks(tree)); },
      "tree"_a, "The nodes at which C4.5 cuts a grown tree before pruning.");
  module.def(
      "cut_at",
      [](const Tree& tree, const Input<std::uint8_t>& becomes_leaf) {
        if (becomes_leaf.shape(0) != tree.size())
          throw std::invalid_argument("one mark per node is needed");
        return sureleaf::cut_at(tree, view(becomes_leaf));
      },
      "tree"_a, "becomes_leaf"_a, "The same tree with the marked nodes as leaves.");
  module.def(
      "cost_complexity_alphas",
      [](const Tree& tree, const Input<double>& cost) {
        if (cost.shape(0) != tree.size())
          throw std::invalid_argument("one cost per node is needed");
        return give(sureleaf::cost_complexity_alphas(tree, view(cost)));
      },
      "tree"_a, "cost"_a, "The penalty per leaf at which each inner node is cut.");
  module.def(
      "average_prunings",
      [](const Tree& tree, const Input2<double>& counts, const Input<double>& as_leaf,
         const Input<double>& ends, const Input<double>& goes_on, double added) {
        const std::size_t n = tree.size();
        if (counts.shape(0) != n || counts.shape(1) != tree.n_classes || as_leaf.shape(0) != n ||
            ends.shape(0) != n || goes_on.shape(0) != n)
          throw std::invalid_argument("one line of counts and evidence per node is needed");
        return give(sureleaf::average_prunings(tree, {counts.data(), counts.size()},
                                               {view(as_leaf), view(ends), view(goes_on)}, added),
                    {n, tree.n_classes});
      },
      "tree"_a, "counts"_a, "as_leaf"_a, "ends"_a, "goes_on"_a, "added"_a,
      "Probabilities of every node: the mean over all prunings of the tree.");
  module.def(
      "shrink_to_parent",
      [](const Tree& tree, const Input2<double>& counts, const Input<double>& totals,
         const Input<double>& root, double strength) {
        const std::size_t n = tree.size();
        if (counts.shape(0) != n || counts.shape(1) != tree.n_classes || totals.shape(0) != n ||
            root.shape(0) != tree.n_classes)
          throw std::invalid_argument("one line of counts per node is needed");
        return give(sureleaf::shrink_to_parent(tree, {counts.data(), counts.size()}, view(totals),
                                               view(root), strength),
                    {n, tree.n_classes});
      },
      "tree"_a, "counts"_a, "totals"_a, "root"_a, "strength"_a,
      "Shares of every node, each with `strength` rows of its parent's shares added.");
  module.def(
      "prune_pessimistic",
      [](const Tree& tree, const Table& table, const Input<std::int32_t>& labels,
         const std::optional<Input<double>>& weights, bool are_copies, double confidence_factor,
         double quantile) {
        check_codes(table);
        check_fits(tree, table);
        check_labels(labels, table.columns.n_rows, tree.n_classes);
        if (!(confidence_factor > 0 && confidence_factor < 1) || !std::isfinite(quantile))
          throw std::invalid_argument("confidence_factor must be between 0 and 1");
        return run([&](InterruptFlag& interrupt) {
          return sureleaf::prune_pessimistic(
              tree, table.columns, view(labels), optional_view(weights, table.columns.n_rows),
              are_copies, sureleaf::PessimisticErrors(confidence_factor, quantile), interrupt);
        });
      },
      "tree"_a, "table"_a, "labels"_a, nb::kw_only(), "weights"_a.none(), "are_copies"_a,
      "confidence_factor"_a, "quantile"_a, "C4.5's subtree replacement and raising.");

  nb::class_<RoutingTree>(module, "RoutingTree",
                          "A tree for routing many rows; keeps its packed form.")
      .def(nb::init<const Tree&>(), "tree"_a, nb::keep_alive<1, 2>());
  module.def(
      "route",
      [](const RoutingTree& tree, const Table& table, bool stop_at_unseen) {
        check_fits(tree, table);
        sureleaf::Routes routes = run([&](InterruptFlag& interrupt) {
          return sureleaf::route(tree, table.columns, unseen_of(stop_at_unseen), interrupt);
        });
        return std::make_tuple(give(std::move(routes.offset)), give(std::move(routes.node)),
                               give(std::move(routes.share)),
                               give(std::move(routes.imputed_share)));
      },
      "tree"_a, "table"_a, "stop_at_unseen"_a,
      "The nodes of rows: offsets per row, nodes, shares, and the imputed share of each row.");
  module.def(
      "count_nodes",
      [](const Tree& tree, const Table& table, const Input<std::int32_t>& labels,
         const std::optional<Input<double>>& weights) {
        check_fits(tree, table);
        check_labels(labels, table.columns.n_rows, tree.n_classes);
        std::vector<double> counts = run([&](InterruptFlag& interrupt) {
          return sureleaf::count_nodes(tree, table.columns, view(labels),
                                       optional_view(weights, table.columns.n_rows), interrupt);
        });
        return give(std::move(counts), {tree.size(), tree.n_classes});
      },
      "tree"_a, "table"_a, "labels"_a, "weights"_a.none(),
      "Class weights of every node when these rows are routed through the tree.");
  module.def(
      "predict",
      [](const RoutingTree& tree, const Table& table, const Input2<double>& values,
         bool stop_at_unseen, std::size_t n_threads) {
        if (values.shape(0) != tree.tree().size())
          throw std::invalid_argument("one line of values per node is needed");
        check_fits(tree, table);
        n_threads = checked_threads(n_threads);
        const std::size_t n_values = values.shape(1);
        if (n_values > max_classes) throw std::invalid_argument("there are too many values");
        // Mixtures are added up, so cells start at zero; calloc leaves the clearing to the system.
        std::unique_ptr<double, decltype(&std::free)> out(
            static_cast<double*>(std::calloc(table.columns.n_rows * n_values + 1, sizeof(double))),
            &std::free);
        if (!out) throw std::bad_alloc();
        run([&](InterruptFlag& interrupt) {
          sureleaf::predict(tree, table.columns, {values.data(), values.size()}, n_values,
                            unseen_of(stop_at_unseen), n_threads, out.get(), interrupt);
          return true;
        });
        double* data = out.release();
        nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
        return Output<double>(data, {table.columns.n_rows, n_values}, owner);
      },
      "tree"_a, "table"_a, "values"_a, nb::kw_only(), "stop_at_unseen"_a, "n_threads"_a,
      "Mixtures of the nodes' values, one line per row.");
  module.def(
      "predict_bags", &predict_bags, "trees"_a, "values"_a, "uses_row"_a.none(), "table"_a,
      "with_details"_a, "stop_at_unseen"_a, "n_threads"_a,
      "Sums over trees of the mixtures of their nodes' values, one line per row; with details also "
      "sums of squares and votes; the imputed shares, and the number of trees per row.");
}
