// Growing a tree level by level from histograms alone: the rows are elsewhere, in many parts or on
// many machines, and only their class counts per code come here. Splits are found by the same code
// as for rows in memory, so the tree is the same to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sureleaf/grow.hpp"

namespace sureleaf {

// ---- one part of the rows -----------------------------------------------------------------------

// The codes of some rows: small codes row by row, and the columns of many categories.
struct CodedRows {
  std::span<const std::uint8_t> codes;  // n_rows x n_small
  std::size_t n_rows = 0, n_small = 0;
  std::vector<std::span<const std::int32_t>> wide;
};

// Where each column is: a small one by its position in a row, a wide one behind those.
struct CellLayout {
  std::vector<std::size_t> first_cell;  // of the small columns, then of the wide ones
  std::vector<std::size_t> n_codes;     // of the same columns; also the code of a missing value
  std::size_t n_cells = 0;              // of one node
  std::size_t n_classes = 0;
};

// Adds class counts per code to the cells of the row's slot. slot_of_node is -1 for nodes that are
// not counted; `weights` is empty if every row counts once.
inline void count_level(const CodedRows& rows, std::span<const std::int32_t> labels,
                        std::span<const std::int64_t> weights,
                        std::span<const std::int32_t> node_of,
                        std::span<const std::int32_t> slot_of_node, const CellLayout& layout,
                        std::span<std::int64_t> cells, InterruptFlag& interrupt) {
  constexpr std::size_t block = 1 << 16;
  const std::size_t n_classes = layout.n_classes;
  for (std::size_t begin = 0; begin < rows.n_rows; begin += block) {
    interrupt.check();
    const std::size_t end = std::min(rows.n_rows, begin + block);
    for (std::size_t row = begin; row < end; ++row) {
      const std::int32_t slot = slot_of_node[static_cast<std::size_t>(node_of[row])];
      if (slot < 0) continue;
      const std::int64_t weight = weights.empty() ? 1 : weights[row];
      if (weight == 0) continue;
      std::int64_t* const sums = cells.data() + static_cast<std::size_t>(slot) * layout.n_cells +
                                 static_cast<std::size_t>(labels[row]);
      const std::uint8_t* const codes = rows.codes.data() + row * rows.n_small;
      for (std::size_t c = 0; c < rows.n_small; ++c)
        sums[layout.first_cell[c] + codes[c] * n_classes] += weight;
      for (std::size_t w = 0; w < rows.wide.size(); ++w) {
        const std::size_t c = rows.n_small + w;
        const std::int32_t code = rows.wide[w][row];
        const std::size_t at = code < 0 ? layout.n_codes[c] : static_cast<std::size_t>(code);
        sums[layout.first_cell[c] + at * n_classes] += weight;
      }
    }
  }
}

// The splits of a level: per node the position of its column (as in CellLayout; -1 if it was not
// split), the index of its branches in `branches`, one per code and one for missing, and its first
// child.
struct LevelSplits {
  std::span<const std::int32_t> column;
  std::span<const std::int64_t> offset;
  std::span<const std::int32_t> first_child;
  std::span<const std::int32_t> branches;
};

// Moves every row to the child of its node.
inline void advance_rows(const CodedRows& rows, const LevelSplits& splits, const CellLayout& layout,
                         std::span<const std::int32_t> from, std::span<std::int32_t> to,
                         InterruptFlag& interrupt) {
  for (std::size_t row = 0; row < rows.n_rows; ++row) {
    if (row % (1 << 16) == 0) interrupt.check();
    const auto node = static_cast<std::size_t>(from[row]);
    to[row] = from[row];
    const std::int32_t column = splits.column[node];
    if (column < 0) continue;
    const auto c = static_cast<std::size_t>(column);
    std::size_t code;
    if (c < rows.n_small) {
      code = rows.codes[row * rows.n_small + c];
    } else {
      const std::int32_t wide = rows.wide[c - rows.n_small][row];
      code = wide < 0 ? layout.n_codes[c] : static_cast<std::size_t>(wide);
    }
    const std::int32_t branch =
        splits.branches[static_cast<std::size_t>(splits.offset[node]) + code];
    // A row of weight 0 may have a code that no counted row of its node has.
    to[row] = splits.first_child[node] + std::max(branch, 0);
  }
}

// ---- the tree -----------------------------------------------------------------------------------

namespace detail {

class LevelGrower {
 public:
  struct Split {
    std::int32_t column = -1;  // -1: the node is a leaf
    std::size_t first_child = 0, n_branches = 0;
    std::vector<std::int32_t> branch_of_code;  // the last one is of missing values
  };

  // `table` has the columns, as codes without rows; counts are whole numbers, or fractions.
  LevelGrower(Columns table, std::vector<double> class_weights, bool are_whole,
              const GrowthConfig& config)
      : data_(make_data(std::move(table))),
        n_classes_(class_weights.size()),
        config_(config),
        grower_(data_, {}, n_classes_, weights_of(are_whole), without_limit(config), 1, interrupt_),
        arena_(n_classes_) {
    Growth<std::uint32_t>& growth = grower_.growth_;
    const std::size_t p = data_.table.size();
    growth.lists.resize(p + 1);
    growth.first_rows.resize(p);
    growth.ranks.resize(p);
    growth.has_missing.assign(p, 0);
    growth.root_known.assign(p, 0);
    for (const std::size_t j : data_.small_columns) {
      growth.first_bin.push_back(growth.n_bins);
      growth.n_bins += data_.n_codes(j) + 1;
    }
    arena_.add_nodes(1);
    std::copy(class_weights.begin(), class_weights.end(), arena_.weights(0).begin());
    const double total = std::accumulate(class_weights.begin(), class_weights.end(), 0.0);
    growth.set_total_weight(total, total);
    NodeTask root;
    root.key = root_key(config.seed, config.tree);
    if (config.is_monotone()) root.bounds.start(n_classes_);
    root.exhausted.assign(p / 64 + 1, 0);
    if (!growth.is_leaf(arena_.weights(0), 0)) open_.emplace(0, std::move(root));
  }

  std::size_t n_cells() const { return grower_.growth_.n_bins * n_classes_; }
  std::size_t n_nodes() const { return arena_.nodes.size(); }
  std::vector<std::int32_t> open_nodes() const {
    std::vector<std::int32_t> nodes;
    for (const auto& [node, task] : open_) nodes.push_back(static_cast<std::int32_t>(node));
    return nodes;
  }
  std::span<const double> class_weights(std::size_t node) { return arena_.weights(node); }

  // Splits an open node by the histograms of its rows, one column after the other. Weights are
  // counts, or sums of fractional weights.
  template <class Weight>
  Split split(std::size_t node, std::span<const Weight> cells) {
    const auto entry = open_.find(node);
    if (entry == open_.end() || cells.size() != n_cells())
      throw std::invalid_argument("a node is not open, or its histograms have another size");
    if constexpr (!std::is_same_v<Weight, double>) check_counts(node, cells);
    NodeTask task = std::move(entry->second);
    open_.erase(entry);
    if (node == 0) note_codes(cells);
    if constexpr (std::is_same_v<Weight, double>)
      task.code_weights.assign(cells.begin(), cells.end());
    else
      task.code_counts.assign(cells.begin(), cells.end());
    Workspace<std::uint32_t>& space = grower_.workspaces_[0];
    const std::size_t column = grower_.find_split(task, arena_, space, grower_.pool_);
    if (column == none) return {};
    return make_split(task, column, space.candidates[column], cells, space);
  }

  // What a tree of the rows of an open node needs to know; the node is no longer open.
  NodeStart start_below(std::size_t node) {
    const auto entry = open_.find(node);
    if (entry == open_.end()) throw std::invalid_argument("the node is not open");
    NodeTask& task = entry->second;
    NodeStart start{task.depth, task.key, task.bounds, task.exhausted, grower_.growth_.total_weight,
                    {}};
    if (grower_.growth_.needs_rows_of_codes()) start.first_rows = grower_.growth_.first_rows;
    open_.erase(entry);
    return start;
  }
  // Puts a tree that was grown elsewhere in the place of a node.
  void graft(std::size_t node, const Tree& tree) {
    if (node >= arena_.nodes.size() || open_.contains(node) || arena_.nodes[node].feature >= 0 ||
        arena_.nodes[node].sub_arena >= 0 || tree.n_classes != n_classes_)
      throw std::invalid_argument("a tree is put where none can be");
    arena_.nodes[node].sub_arena = static_cast<std::int32_t>(grafts_.size());
    grafts_.push_back(arena_of(tree));
  }

  // Whether the tree is complete: no open node, or none that the largest number of leaves admits.
  bool is_complete() const { return open_.empty() || (config_.max_leaves > 0 && !replay().second); }

  Tree finish() {
    if (!is_complete()) throw std::invalid_argument("nodes are still open");
    if (config_.max_leaves > 0) {
      const std::vector<char> is_split = replay().first;
      for (std::size_t node = 0; node < arena_.nodes.size(); ++node)
        if (!is_split[node] && arena_.nodes[node].sub_arena < 0) arena_.nodes[node] = {};
    }
    return flatten_arenas(arena_, grafts_);
  }

 private:
  static Presorted make_data(Columns table) {
    table.n_rows = 1;  // the width of a row number cannot be that of none
    Presorted data;
    data.columns.resize(table.size());
    for (std::size_t j = 0; j < table.size(); ++j) {
      PresortedColumn& column = data.columns[j];
      const Column& source = table[j];
      column.has_missing = table.has_missing[j];
      column.small = static_cast<std::int32_t>(j);
      column.are_ranges = source.are_ranges;
      data.small_columns.push_back(j);
      if (source.kind == Kind::numeric)
        column.values.assign(source.value_of_code, source.value_of_code + source.n_codes);
      for (std::int32_t c = 0; source.kind == Kind::ordered && c < source.n_categories; ++c)
        column.values.push_back(c);
      for (std::size_t i = 1; i < column.values.size(); ++i)
        if (!(column.values[i - 1] + c45_gap < column.values[i])) column.gaps_are_wide = false;
    }
    data.table = std::move(table);
    return data;
  }

  RowWeights weights_of(bool are_whole) const {
    static constexpr double one[] = {1.0};
    return are_whole ? RowWeights{} : RowWeights{{}, one, false};
  }

  // Nodes are split level by level; which of the splits stay is decided in the end.
  static GrowthConfig without_limit(GrowthConfig config) {
    config.max_leaves = 0;
    return config;
  }

  // C4.5 needs to know which values occur in the rows of the tree.
  template <class Weight>
  void note_codes(std::span<const Weight> cells) {
    Growth<std::uint32_t>& growth = grower_.growth_;
    if (!growth.needs_rows_of_codes()) return;
    for (std::size_t j = 0; j < data_.table.size(); ++j) {
      if (!data_.table[j].has_thresholds()) continue;
      growth.first_rows[j].assign(data_.n_codes(j) + 1, no_code);
      for (std::size_t code = 0; code < data_.n_codes(j); ++code) {
        const auto bin = cells.subspan((growth.first_bin[j] + code) * n_classes_, n_classes_);
        if (std::ranges::any_of(bin, [](Weight w) { return w > 0; }))
          growth.first_rows[j][code] = static_cast<std::uint32_t>(code);
      }
    }
  }

  // Every row of the node is in one bin of every column, so no sum of counts can overflow.
  void check_counts(std::size_t node, std::span<const std::int64_t> counts) {
    const std::span<const double> weights = arena_.weights(node);
    std::vector<double> sums(n_classes_);
    std::size_t cell = 0;
    for (const std::size_t j : data_.small_columns) {
      std::ranges::fill(sums, 0.0);
      for (const std::size_t end = cell + (data_.n_codes(j) + 1) * n_classes_; cell < end; ++cell)
        sums[cell % n_classes_] += static_cast<double>(counts[cell]);
      if (!std::ranges::equal(sums, weights))
        throw std::invalid_argument("the histograms must have the rows of the node");
    }
  }

  template <class Weight>
  Split make_split(NodeTask& task, std::size_t j, Candidate& candidate,
                   std::span<const Weight> cells, Workspace<std::uint32_t>& space) {
    Growth<std::uint32_t>& growth = grower_.growth_;
    Partitioner<std::uint32_t>& partitioner = grower_.partitioner_;
    const Column& column = data_.table[j];
    note_decrease(task.node, candidate.gain * space.totals.node.weight);
    if (column.has_thresholds()) candidate.threshold = partitioner.thresholds_.of(candidate, j);
    Branches<std::uint32_t>& branches = space.branches;
    const std::size_t n = partitioner.n_branches(j, candidate), n_codes = data_.n_codes(j);
    branches.start(n, arena_.add_nodes(n));
    Split split{static_cast<std::int32_t>(j), branches.first_child, n, {}};
    for (std::size_t code = 0; code < n_codes; ++code)
      split.branch_of_code.push_back(column.has_thresholds()    ? code > candidate.cut
                                     : candidate.groups.empty() ? static_cast<std::int32_t>(code)
                                                                : candidate.groups[code]);
    split.branch_of_code.push_back(candidate.missing_branch);
    double* const sums = arena_.weights(branches.first_child).data();
    for (std::size_t code = 0; code <= n_codes; ++code)
      for (std::size_t k = 0; k < n_classes_; ++k) {
        const Weight weight = cells[(growth.first_bin[j] + code) * n_classes_ + k];
        if (weight == 0) continue;
        const std::int32_t branch = split.branch_of_code[code];
        if (branch < 0) throw std::invalid_argument("rows with a missing value take no branch");
        sums[static_cast<std::size_t>(branch) * n_classes_ + k] += static_cast<double>(weight);
        branches.share[static_cast<std::size_t>(branch)] += static_cast<double>(weight);
      }
    const double known = std::accumulate(branches.share.begin(), branches.share.end(), 0.0);
    for (double& share : branches.share) share /= known;
    branches.fractional_rows.clear();
    partitioner.record(task, j, candidate, arena_, branches);
    // A missing value of a row of weight 0 takes the branch that the test has learned.
    split.branch_of_code.back() = arena_.nodes[task.node].missing_branch;
    std::vector<NodeTask> children;
    partitioner.add_children(task, arena_, branches, children);
    if (growth.config.is_monotone() && column.has_thresholds() && !candidate.tests_missing)
      partitioner.tighten_bounds(j, arena_, branches, children);
    for (NodeTask& child : children) {
      const std::size_t node = child.node;
      open_.emplace(node, std::move(child));
    }
    return split;
  }

  void note_decrease(std::size_t node, double decrease) {
    decreases_.resize(std::max(decreases_.size(), node + 1), 0.0);
    decreases_[node] = decrease;
  }

  // Splits the nodes best first, as with rows in memory. Returns which nodes are split, and whether
  // that depends on a node that is still open.
  std::pair<std::vector<char>, bool> replay() const {
    struct Planned {
      std::int64_t decrease;
      std::size_t number, node;  // the number a node has if splits are made in this order
    };
    auto is_worse = [](const Planned& a, const Planned& b) {
      return a.decrease < b.decrease || (a.decrease == b.decrease && a.number > b.number);
    };
    std::vector<char> is_split(arena_.nodes.size(), 0);
    const std::span<const double> root(arena_.class_weights.data(), n_classes_);
    const double unit = 1e-9 * Group(root, config_.criterion).impurity;
    std::vector<Planned> heap;
    bool needs_more = false;
    auto plan = [&](std::size_t node, std::size_t number) {
      if (open_.contains(node)) needs_more = true;
      if (arena_.nodes[node].feature < 0) return;
      heap.push_back({std::llround(decreases_[node] / unit), number, node});
      std::push_heap(heap.begin(), heap.end(), is_worse);
    };
    plan(0, 0);
    std::size_t n_leaves = 1, n_numbered = 1;
    while (!heap.empty() && !needs_more) {
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      const Planned best = heap.back();
      heap.pop_back();
      const GrownNode& node = arena_.nodes[best.node];
      if (n_leaves + node.n_children - 1 > config_.max_leaves) continue;
      n_leaves += node.n_children - 1;
      is_split[best.node] = 1;
      for (std::size_t b = node.n_children; b-- > 0;) {
        // a full tree needs no further node
        if (n_leaves < config_.max_leaves) plan(node.first_child + b, n_numbered + b);
      }
      n_numbered += node.n_children;
    }
    return {is_split, needs_more};
  }

  static Arena arena_of(const Tree& tree) {
    Arena arena(tree.n_classes);
    arena.add_nodes(tree.size());
    arena.class_weights = tree.class_weights;
    std::vector<std::size_t> index(tree.size(), 0);  // children of a node are adjacent in an arena
    std::size_t n_placed = 1;
    for (std::size_t node = 0; node < tree.size(); ++node) {
      const std::size_t at = index[node];
      const std::span<const double> weights = tree.weights(node);
      std::ranges::copy(weights, arena.weights(at).begin());
      if (tree.is_leaf(node)) continue;
      GrownNode& grown = arena.nodes[at];
      grown.feature = tree.feature[node];
      grown.threshold = tree.threshold[node];
      grown.missing_branch = tree.missing_branch[node];
      grown.first_child = static_cast<std::uint32_t>(n_placed);
      grown.n_children = static_cast<std::uint32_t>(tree.n_branches(node));
      const auto categories = tree.category_branches(node);
      grown.first_category = static_cast<std::uint32_t>(arena.category_branch.size());
      grown.n_categories = static_cast<std::uint32_t>(categories.size());
      arena.category_branch.insert(arena.category_branch.end(), categories.begin(),
                                   categories.end());
      for (std::size_t b = 0; b < tree.n_branches(node); ++b) {
        index[static_cast<std::size_t>(tree.branches(node)[b])] = n_placed;
        arena.shares[n_placed++] = tree.shares(node)[b];
      }
    }
    return arena;
  }

  InterruptFlag interrupt_;
  Presorted data_;
  std::size_t n_classes_;
  GrowthConfig config_;
  Grower<std::uint32_t> grower_;
  Arena arena_;
  std::map<std::size_t, NodeTask> open_;
  std::vector<double> decreases_;
  std::deque<Arena> grafts_;
};

}  // namespace detail

}  // namespace sureleaf
