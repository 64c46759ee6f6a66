// Growing: the same tree on any number of threads, whatever the entries, and stopping on the way.

#include "check.hpp"
#include "growing.hpp"
#include "sureleaf/route.hpp"

using checks::close;
using checks::config_of;
using checks::grow;
using checks::mixed_table;
using checks::SmallTable;
using sureleaf::criterion_id;
using sureleaf::GrowthConfig;
using sureleaf::InterruptFlag;
using sureleaf::Missing;
using sureleaf::RowWeights;
using sureleaf::Tree;

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  return true;
}

bool same_tree(const Tree& a, const Tree& b) {
  return a.feature == b.feature && same_bits(a.threshold, b.threshold) &&
         a.child_offset == b.child_offset && a.children == b.children &&
         same_bits(a.branch_share, b.branch_share) && a.category_offset == b.category_offset &&
         a.category_branch == b.category_branch && a.missing_branch == b.missing_branch &&
         same_bits(a.class_weights, b.class_weights);
}

constexpr std::uint8_t gain_ratio = criterion_id<sureleaf::GainRatio>;
constexpr std::uint8_t entropy = criterion_id<sureleaf::Entropy>;
constexpr std::uint8_t gini = criterion_id<sureleaf::Gini>;
constexpr std::uint8_t criteria[] = {gain_ratio, entropy, gini};

void threads_do_not_change_a_bit() {
  for (const auto& [missing_share, missing] :
       {std::pair{0.0, Missing::fraction}, {0.1, Missing::fraction}, {0.1, Missing::branch}})
    for (const std::uint8_t criterion : criteria)
      for (const bool subsets : {false, true}) {
        const SmallTable table = mixed_table(1500, missing_share, 1);
        GrowthConfig config = config_of(criterion, subsets);
        config.missing = missing;
        const Tree expected = grow(table, config);
        CHECK(expected.size() > 20);
        CHECK(sureleaf::fault_in(expected, expected.size(), table.columns.size()) == nullptr);
        for (const std::size_t n_threads : {2, 5})
          for (const bool use_up : {false, true})
            CHECK(same_tree(grow(table, config, n_threads, {}, use_up), expected));
      }
}

// Limits of growth, in all of which a split may be refused.
void limits_do_not_depend_on_threads() {
  const SmallTable table = mixed_table(1200, 0.15, 5);
  std::vector<std::int8_t> signs(table.columns.size() * table.n_classes, 0);
  signs[0] = 1;
  signs[2] = -1;
  signs[table.n_classes + 1] = 1;
  for (const Missing missing : {Missing::fraction, Missing::branch})
    for (const std::uint8_t criterion : criteria)
      for (int limit = 0; limit < 4; ++limit) {
        GrowthConfig config = config_of(criterion, limit % 2 == 0);
        config.missing = missing;
        if (limit == 0) config.max_leaves = 20;
        if (limit == 1) config.max_features = 2;
        if (limit == 2) config.monotone = signs;
        if (limit == 3) config.category_penalty = 1;
        const Tree expected = grow(table, config);
        CHECK(expected.size() > 1);
        CHECK(sureleaf::fault_in(expected, expected.size(), table.columns.size()) == nullptr);
        CHECK(same_tree(grow(table, config, 3), expected));
        const auto n_leaves = std::count(expected.feature.begin(), expected.feature.end(), -1);
        CHECK(limit != 0 || n_leaves <= 20);
      }
}

void weights_are_repeated_rows() {
  const SmallTable table = mixed_table(500, 0.1, 2);
  std::vector<std::uint32_t> counts;
  std::vector<double> fractional;
  SmallTable repeated;
  repeated.n_classes = table.n_classes;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < 500; ++row) {
    counts.push_back(static_cast<std::uint32_t>(row % 4));
    fractional.push_back(static_cast<double>(row % 4));
    for (std::size_t copy = 0; copy < row % 4; ++copy) rows.push_back(row);
  }
  for (const std::size_t row : rows) repeated.labels.push_back(table.labels[row]);
  for (const sureleaf::Column& column : table.columns.columns) {
    std::vector<double> values;
    std::vector<std::int32_t> codes;
    for (const std::size_t row : rows) {
      if (column.kind == sureleaf::Kind::numeric)
        values.push_back(column.number(row));
      else
        codes.push_back(column.code(row));
    }
    if (column.kind == sureleaf::Kind::numeric)
      repeated.add(std::move(values));
    else
      repeated.add(std::move(codes), column.n_categories, column.kind == sureleaf::Kind::ordered);
  }
  for (const std::uint8_t criterion : criteria) {
    const GrowthConfig config = config_of(criterion, false, 5);
    const Tree expected = grow(repeated, config);
    RowWeights whole, parts;
    whole.whole = counts;
    parts.fractional = fractional;
    RowWeights copies = whole;
    copies.are_copies = true;
    CHECK(same_tree(grow(table, config, 2, copies), expected));
    for (const RowWeights& weights : {whole, parts}) {
      const Tree tree = grow(table, config, 2, weights);
      CHECK(tree.feature == expected.feature);
      CHECK(same_bits(tree.threshold, expected.threshold));
      bool counts_agree = tree.class_weights.size() == expected.class_weights.size();
      for (std::size_t i = 0; counts_agree && i < tree.class_weights.size(); ++i)
        counts_agree = close(tree.class_weights[i], expected.class_weights[i], 1e-9);
      CHECK(counts_agree);
    }
  }
}

void counts_are_those_of_rows_sent_through() {
  InterruptFlag interrupt;
  for (const auto& [missing_share, missing] :
       {std::pair{0.0, Missing::fraction}, {0.2, Missing::fraction}, {0.2, Missing::branch}}) {
    const SmallTable table = mixed_table(800, missing_share, 3);
    GrowthConfig config = config_of(gini);
    config.missing = missing;
    const Tree tree = grow(table, config, 2);
    const std::vector<double> counts =
        sureleaf::count_nodes(tree, table.columns, table.labels, {}, interrupt);
    bool agree = true;
    for (std::size_t i = 0; i < counts.size(); ++i)
      agree = agree && close(counts[i], tree.class_weights[i], 1e-9);
    CHECK(agree);
  }
}

// 2^20 rows of 4096 classes do not fit in entries of 32 bits.
void wide_entries_give_the_same_tree() {
  constexpr std::size_t n_rows = std::size_t{1} << 20;
  CHECK(sureleaf::Packing<std::uint32_t>::fits(n_rows, 2048));
  CHECK(!sureleaf::Packing<std::uint32_t>::fits(n_rows, 4096));
  SmallTable table;
  std::vector<double> values;
  std::uint64_t state = 1;
  for (std::size_t row = 0; row < n_rows; ++row) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    values.push_back(static_cast<double>(state >> 40));
    table.labels.push_back((state >> 40) % 1024 < 300 || values.back() > 9e6);
  }
  table.add(std::move(values));
  GrowthConfig config = config_of(gini);
  config.max_depth = 2;
  table.n_classes = 2;
  const Tree narrow = grow(table, config, 2);
  table.n_classes = 4096;
  const Tree wide = grow(table, config, 2);
  CHECK(narrow.size() > 3);
  CHECK(narrow.feature == wide.feature);
  CHECK(same_bits(narrow.threshold, wide.threshold));
  for (std::size_t node = 0; node < narrow.size(); ++node)
    for (std::size_t k = 0; k < 2; ++k) CHECK(narrow.weights(node)[k] == wide.weights(node)[k]);
}

void exclusive_or_is_split_without_gain() {
  SmallTable table;
  table.add({0, 0, 1, 1});
  table.add({0, 1, 0, 1});
  table.labels = {0, 1, 1, 0};
  for (const std::uint8_t criterion : {entropy, gini})
    CHECK(grow(table, config_of(criterion, false, 1)).size() == 7);
  CHECK(grow(table, config_of(gain_ratio, false, 1)).size() == 1);
}

void hard_numbers_are_cut_in_order() {
  const double inf = std::numeric_limits<double>::infinity();
  const double ends[] = {-inf, -1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.7e308, inf};
  SmallTable table;
  std::vector<double> values(std::begin(ends), std::end(ends));
  for (std::size_t i = 0; i < values.size(); ++i)
    table.labels.push_back(static_cast<std::int32_t>(i % 2));
  table.add(values);
  const Tree tree = grow(table, config_of(gini, false, 1));
  CHECK(tree.size() == 2 * values.size() - 1);
  for (std::size_t node = 0; node < tree.size(); ++node)
    CHECK(tree.is_leaf(node) == std::isnan(tree.threshold[node]));
}

void an_interrupt_stops_all_threads() {
  const SmallTable table = mixed_table(4000, 0.1, 4);
  for (const std::size_t n_threads : {1, 3}) {
    InterruptFlag unset_flag;
    sureleaf::Presorted sorted = sureleaf::presort(table.columns, n_threads, unset_flag);
    const auto start = std::chrono::steady_clock::now();
    InterruptFlag set_flag([] { return true; });
    bool stopped = false;
    // InterruptFlag asks every 50 ms: until then trees are grown.
    while (!stopped && std::chrono::steady_clock::now() - start < std::chrono::minutes(2)) {
      try {
        grow(sorted, table, config_of(gini), n_threads, {}, false, set_flag);
      } catch (const sureleaf::Interrupted&) {
        stopped = true;
      }
    }
    CHECK(stopped);
  }
}

// A tree that draws few columns sorts the rows of its nodes and looks into few buckets. Counts that
// do not fit into an entry make it keep sorted lists: the tree must be the same, at another scale.
void few_columns_drawn_give_the_tree_of_lists() {
  constexpr std::size_t n_rows = 900, n_columns = 10;
  constexpr std::uint32_t scale = 1u << 20;
  std::mt19937 random(5);
  for (int style = 0; style < 4; ++style) {
    SmallTable table;
    for (std::size_t row = 0; row < n_rows; ++row)
      table.labels.push_back(static_cast<std::int32_t>(random() % 2));
    for (std::size_t j = 0; j < n_columns; ++j) {
      std::vector<double> values;
      for (std::size_t row = 0; row < n_rows; ++row) {
        const double noise = static_cast<double>(random()) / 4294967296.0;
        double value = noise + (j < 3 ? 0.3 * table.labels[row] : 0.0);
        if (style == 1) value = std::floor(value * (j % 2 ? 400 : 9));  // ties, few values
        if (style == 2 && j % 3 == 0 && random() % 9 == 0) value = std::nan("");
        if (style == 3) value = j % 2 ? 1.0 : std::floor(value * 300) * 1e6;  // constant
        values.push_back(value);
      }
      table.add(std::move(values));
    }
    std::vector<std::uint32_t> counts, large;
    for (std::size_t row = 0; row < n_rows; ++row) {
      counts.push_back(static_cast<std::uint32_t>(random() % 4));
      large.push_back(counts.back() * scale);
    }
    for (const double min_samples_leaf : {1.0, 7.0})
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        GrowthConfig config = config_of(criterion_id<sureleaf::Gini>, false, min_samples_leaf);
        config.missing = Missing::branch;
        config.max_features = 3;
        config.seed = seed;
        const Tree sorted = grow(table, config, 1, {counts, {}});
        config.min_samples_leaf *= scale;
        const Tree listed = grow(table, config, 1, {large, {}});
        CHECK(sorted.size() > 30);
        CHECK(sorted.feature == listed.feature);
        CHECK(sorted.children == listed.children);
        CHECK(sorted.missing_branch == listed.missing_branch);
        CHECK(sorted.branch_share == listed.branch_share);
        CHECK(same_bits(sorted.threshold, listed.threshold));
        for (std::size_t i = 0; i < sorted.class_weights.size(); ++i)
          CHECK(sorted.class_weights[i] * scale == listed.class_weights[i]);
        config.min_samples_leaf = min_samples_leaf;
        const Tree by_threads = grow(table, config, 3, {counts, {}});
        CHECK(same_tree(by_threads, sorted));
      }
  }
}

}  // namespace

TESTS(tree_test) {
  threads_do_not_change_a_bit();
  limits_do_not_depend_on_threads();
  weights_are_repeated_rows();
  counts_are_those_of_rows_sent_through();
  wide_entries_give_the_same_tree();
  few_columns_drawn_give_the_tree_of_lists();
  exclusive_or_is_split_without_gain();
  hard_numbers_are_cut_in_order();
  an_interrupt_stops_all_threads();
}
