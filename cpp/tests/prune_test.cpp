// Making trees smaller: cutting, collapse, weakest links, and C4.5's pessimistic rule.
#include "sureleaf/prune.hpp"

#include "check.hpp"
#include "growing.hpp"
#include "sureleaf/pessimistic.hpp"

using checks::close;
using checks::mixed_table;
using checks::SmallTable;
using sureleaf::InterruptFlag;
using sureleaf::Tree;

namespace {

constexpr double kQuarter = 0.25, kQuantile = 0.6744897501960817;  // of 1 - 0.25

Tree grown(const SmallTable& table, double least = 2) {
  return checks::grow(table,
                      checks::config_of(sureleaf::criterion_id<sureleaf::Gini>, false, least), 2);
}

std::size_t n_leaves(const Tree& tree) {
  return static_cast<std::size_t>(std::count(tree.feature.begin(), tree.feature.end(), -1));
}

// a <= 1: [4 0]; a > 1: b <= 1: [1 1], b > 1: [0 4]
Tree hand_made() {
  Tree tree;
  tree.n_classes = 2;
  tree.feature = {0, -1, 1, -1, -1};
  const double nan = std::nan("");
  tree.threshold = {1, nan, 1, nan, nan};
  tree.child_offset = {0, 2, 2, 4, 4, 4};
  tree.children = {1, 2, 3, 4};
  tree.branch_share = {0.4, 0.6, 1.0 / 3, 2.0 / 3};
  tree.category_offset.assign(6, 0);
  tree.missing_branch.assign(5, -1);
  tree.class_weights = {5, 5, 4, 0, 1, 5, 1, 1, 0, 4};
  return tree;
}

void cutting_keeps_what_is_above() {
  const Tree tree = hand_made();
  const Tree cut = sureleaf::cut_at(tree, std::vector<std::uint8_t>{0, 0, 1, 0, 0});
  CHECK(cut.size() == 3);
  CHECK((cut.class_weights == std::vector<double>{5, 5, 4, 0, 1, 5}));
  CHECK(sureleaf::fault_in(cut, 3, 2) == nullptr);
  CHECK(sureleaf::cut_at(tree, std::vector<std::uint8_t>{1, 0, 0, 0, 0}).size() == 1);
  CHECK(sureleaf::cut_at(tree, std::vector<std::uint8_t>(5, 0)).size() == 5);
}

void collapse_cuts_what_saves_no_error() {
  const std::vector<std::uint8_t> marks = sureleaf::collapse_marks(hand_made());
  CHECK((marks == std::vector<std::uint8_t>{0, 0, 1, 0, 0}));
}

void weakest_links_by_hand() {
  // cost: training errors; node 2 saves none, the root 4 with one leaf more
  const std::vector<double> cost{5, 0, 1, 1, 0};
  const std::vector<double> alphas = sureleaf::cost_complexity_alphas(hand_made(), cost);
  CHECK(alphas[2] == 0);
  CHECK(alphas[0] == 4);
  CHECK(std::isinf(alphas[1]) && std::isinf(alphas[3]));
}

// Every step by looking at all links anew.
std::vector<double> slow_alphas(const Tree& tree, const std::vector<double>& cost) {
  std::vector<double> alpha(tree.size(), std::numeric_limits<double>::infinity());
  std::vector<char> is_leaf(tree.size());
  for (std::size_t node = 0; node < tree.size(); ++node) is_leaf[node] = tree.is_leaf(node);
  double reached = -std::numeric_limits<double>::infinity();
  while (!is_leaf[0]) {
    std::vector<double> below = cost, leaves(tree.size(), 1);
    double weakest = std::numeric_limits<double>::infinity();
    std::size_t weakest_node = 0;
    for (std::size_t node = tree.size(); node-- > 0;) {
      if (is_leaf[node]) continue;
      below[node] = leaves[node] = 0;
      for (const std::int32_t child : tree.branches(node)) {
        below[node] += below[static_cast<std::size_t>(child)];
        leaves[node] += leaves[static_cast<std::size_t>(child)];
      }
    }
    std::vector<char> reachable(tree.size(), 0);
    reachable[0] = 1;
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (!reachable[node] || is_leaf[node]) continue;
      for (const std::int32_t child : tree.branches(node))
        reachable[static_cast<std::size_t>(child)] = 1;
      const double g = (cost[node] - below[node]) / (leaves[node] - 1);
      if (g < weakest) {
        weakest = g;
        weakest_node = node;
      }
    }
    reached = std::max(reached, weakest);
    std::vector<std::size_t> pending{weakest_node};
    while (!pending.empty()) {
      const std::size_t node = pending.back();
      pending.pop_back();
      if (is_leaf[node]) continue;
      is_leaf[node] = 1;
      alpha[node] = reached;
      for (const std::int32_t child : tree.branches(node))
        pending.push_back(static_cast<std::size_t>(child));
    }
  }
  return alpha;
}

void weakest_links_are_those_of_a_slow_search() {
  for (const std::uint32_t seed : {1, 2, 3}) {
    const SmallTable table = mixed_table(250, 0.1, seed);
    const Tree tree = grown(table);
    std::vector<double> cost;
    for (std::size_t node = 0; node < tree.size(); ++node)
      cost.push_back(
          sureleaf::Group(tree.weights(node), sureleaf::criterion_id<sureleaf::Gini>).impurity);
    const std::vector<double> fast = sureleaf::cost_complexity_alphas(tree, cost);
    const std::vector<double> slow = slow_alphas(tree, cost);
    bool agree = true;
    for (std::size_t node = 0; node < tree.size(); ++node)
      agree = agree && (fast[node] == slow[node] || close(fast[node], slow[node], 1e-9));
    CHECK(agree);
  }
}

void pessimistic_errors_by_hand() {
  const sureleaf::PessimisticErrors estimate(kQuarter, kQuantile);
  const auto of = [&](double a, double b) { return estimate(std::vector<double>{a, b}); };
  CHECK(of(0, 0) == 0);
  CHECK(close(of(6, 0), 6 * (1 - std::pow(0.25, 1.0 / 6)), 1e-12));
  CHECK(close(estimate(std::vector<double>{0.5, 0.5, 0.5}), 1.5, 1e-12));  // all rows, no more
  const double none = 10 * (1 - std::pow(0.25, 0.1)), one = of(9, 1) - 1;
  CHECK(close(of(9.5, 0.5), 0.5 + none + 0.5 * (one - none), 1e-12));
  for (double errors = 0; errors <= 10; errors += 0.5)
    CHECK(of(20 - errors, errors) > errors && of(20 - errors, errors) <= 20);
}

void noise_is_pruned_and_signal_is_kept() {
  InterruptFlag interrupt;
  SmallTable table;
  std::mt19937 random(5);
  std::vector<double> signal, noise;
  for (int row = 0; row < 400; ++row) {
    table.labels.push_back(row % 2);
    signal.push_back(row % 2 + static_cast<double>(random() % 100) / 200);
    noise.push_back(static_cast<double>(random()));
  }
  table.add(signal);
  const sureleaf::PessimisticErrors estimate(kQuarter, kQuantile);
  const Tree good = grown(table);
  CHECK(n_leaves(sureleaf::prune_pessimistic(good, table.columns, table.labels, {}, false, estimate,
                                             interrupt)) == 2);
  SmallTable useless;
  useless.labels = table.labels;
  useless.add(noise);
  const Tree bad = grown(useless, 20);
  CHECK(n_leaves(bad) > 3);
  CHECK(n_leaves(sureleaf::prune_pessimistic(bad, useless.columns, useless.labels, {}, false,
                                             estimate, interrupt)) < n_leaves(bad));
}

// Raising is given up on the strength of this.
void further_rows_mean_no_fewer_errors() {
  const sureleaf::PessimisticErrors estimate(kQuarter, kQuantile);
  CHECK(estimate.never_falls());
  CHECK(!sureleaf::PessimisticErrors(1 - kQuarter, -kQuantile).never_falls());
  std::mt19937 random(3);
  bool falls = false;
  for (int i = 0; i < 20000; ++i) {
    std::vector<double> weights;
    for (int k = 0; k < 3; ++k) weights.push_back(static_cast<double>(random() % 64) / 8);
    const double before = estimate(weights);
    weights[random() % 3] += static_cast<double>(1 + random() % 16) / 8;
    falls = falls || estimate(weights) < before - 1e-12;
  }
  CHECK(!falls);
}

void pruned_counts_are_those_of_rows_sent_through() {
  InterruptFlag interrupt;
  const sureleaf::PessimisticErrors strict(kQuarter, kQuantile);
  const sureleaf::PessimisticErrors mild(1 - kQuarter, -kQuantile);  // raises again and again
  bool agree = true, is_sound = true;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const SmallTable table = mixed_table(300, seed % 2 ? 0.2 : 0.0, seed);
    const Tree pruned = sureleaf::prune_pessimistic(grown(table), table.columns, table.labels, {},
                                                    false, seed % 4 < 2 ? strict : mild, interrupt);
    is_sound =
        is_sound && sureleaf::fault_in(pruned, pruned.size(), table.columns.size()) == nullptr;
    const std::vector<double> counts =
        sureleaf::count_nodes(pruned, table.columns, table.labels, {}, interrupt);
    for (std::size_t i = 0; i < counts.size(); ++i)
      agree = agree && close(counts[i], pruned.class_weights[i], 1e-9);
  }
  CHECK(is_sound);
  CHECK(agree);
}

// A root with two branches and a row with a missing value is replaced by a node with four and none.
void raising_forgets_the_rows_that_were_lost() {
  InterruptFlag interrupt;
  SmallTable table;
  std::vector<double> noise;
  std::vector<std::int32_t> codes;
  for (int row = 0; row < 40; ++row) {
    noise.push_back(row == 0 ? std::nan("") : row % 5 == 4);
    codes.push_back(row % 4);
    table.labels.push_back(row % 4 / 2);
  }
  table.add(noise);
  table.add(codes, 4, false);
  const double nan = std::nan("");
  Tree tree;
  tree.n_classes = 2;
  tree.feature = {0, 1, -1, -1, -1, -1, -1};
  tree.threshold = {0, nan, nan, nan, nan, nan, nan};
  tree.child_offset = {0, 2, 6, 6, 6, 6, 6, 6};
  tree.children = {1, 6, 2, 3, 4, 5};
  tree.branch_share = {31.0 / 39, 8.0 / 39, 0.25, 0.25, 0.25, 0.25};
  tree.category_offset = {0, 0, 4, 4, 4, 4, 4, 4};
  tree.missing_branch.assign(7, -1);
  tree.category_branch = {0, 1, 2, 3};
  tree.class_weights = sureleaf::count_nodes(tree, table.columns, table.labels, {}, interrupt);
  const Tree pruned =
      sureleaf::prune_pessimistic(tree, table.columns, table.labels, {}, false,
                                  sureleaf::PessimisticErrors(kQuarter, kQuantile), interrupt);
  CHECK((pruned.feature == std::vector<std::int32_t>{1, -1, -1, -1, -1}));
  CHECK((pruned.class_weights == std::vector<double>{20, 20, 10, 0, 10, 0, 0, 10, 0, 10}));
}

void a_chain_of_nodes_is_pruned_without_a_stack() {
  InterruptFlag interrupt;
  SmallTable table;
  std::vector<double> values;
  for (int row = 0; row < 2000; ++row) {
    values.push_back(row);
    table.labels.push_back(row % 2);
  }
  table.add(values);
  const Tree chain = grown(table, 1);
  CHECK(chain.size() == 3999);
  const sureleaf::PessimisticErrors estimate(kQuarter, kQuantile);
  const Tree pruned = sureleaf::prune_pessimistic(chain, table.columns, table.labels, {}, false,
                                                  estimate, interrupt);
  CHECK(pruned.size() < chain.size());
  std::vector<double> cost;
  for (std::size_t node = 0; node < chain.size(); ++node)
    cost.push_back(sureleaf::training_errors(chain.weights(node)));
  CHECK(sureleaf::cost_complexity_alphas(chain, cost)[0] > 0);
}

}  // namespace

TESTS(prune_test) {
  cutting_keeps_what_is_above();
  collapse_cuts_what_saves_no_error();
  weakest_links_by_hand();
  weakest_links_are_those_of_a_slow_search();
  pessimistic_errors_by_hand();
  noise_is_pruned_and_signal_is_kept();
  further_rows_mean_no_fewer_errors();
  pruned_counts_are_those_of_rows_sent_through();
  raising_forgets_the_rows_that_were_lost();
  a_chain_of_nodes_is_pruned_without_a_stack();
}
