// Which leaves a row reaches, and with what share of its weight.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/packed.hpp"
#include "sureleaf/steps.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// What a row does at a test of a category that the node has not seen.
enum class Unseen : std::uint8_t { mixture, stop };

inline constexpr std::int32_t branch_missing = -1;
inline constexpr std::int32_t branch_unseen = -2;

inline std::int32_t branch_of(const Tree& tree, std::size_t node, const Columns& table,
                              std::size_t row) {
  const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
  if (column.has_thresholds()) {
    const double value = column.walked_value(row);
    if (std::isnan(value))
      return column.kind == Kind::ordered && column.walked_code(row) == unseen_code
                 ? branch_unseen
                 : branch_missing;
    return value <= tree.threshold[node] ? 0 : 1;
  }
  const std::int32_t code = column.walked_code(row);
  if (code == missing_code) return branch_missing;
  const auto branches = tree.category_branches(node);
  if (code < 0 || static_cast<std::size_t>(code) >= branches.size()) return branch_unseen;
  const std::int32_t branch = branches[static_cast<std::size_t>(code)];
  return branch < 0 ? branch_unseen : branch;
}

// Hands over a function from row to branch_of, for loops over the rows of a test of categories.
template <class Use>
void with_branches(const Tree& tree, std::size_t node, const Columns& table, Use&& use) {
  const Column column = table[static_cast<std::size_t>(tree.feature[node])];
  if (column.kind == Kind::categorical) {
    const auto branches = tree.category_branches(node);
    use([=](std::size_t row) -> std::int32_t {
      const std::int32_t code = column.code(row);
      if (code == missing_code) return branch_missing;
      if (code < 0 || static_cast<std::size_t>(code) >= branches.size()) return branch_unseen;
      const std::int32_t branch = branches[static_cast<std::size_t>(code)];
      return branch < 0 ? branch_unseen : branch;
    });
  } else {
    use([&](std::size_t row) { return branch_of(tree, node, table, row); });
  }
}

// Calls visit(node, share, guessed) for every place a row ends in; `guessed` says that a missing
// or unseen value decided part of the way.
class Walk {
 public:
  Walk(const Tree& tree, const Columns& table, Unseen unseen)
      : tree_(tree), table_(table), unseen_(unseen) {}

  // From the root, or from a node that the whole row has come to.
  template <class Visit>
  void operator()(std::size_t row, Visit&& visit, std::size_t start = 0) {
    pending_.assign(1, {start, 1.0, false});
    while (!pending_.empty()) {
      Step step = pending_.back();
      pending_.pop_back();
      while (!tree_.is_leaf(step.node)) {
        const std::int32_t branch = branch_of(tree_, step.node, table_, row);
        if (branch >= 0) {
          step.node =
              static_cast<std::size_t>(tree_.branches(step.node)[static_cast<std::size_t>(branch)]);
          continue;
        }
        step.guessed = true;
        if (branch == branch_unseen && unseen_ == Unseen::stop) break;
        const auto shares = tree_.shares(step.node);
        for (std::size_t b = shares.size(); b-- > 0;)
          if (shares[b] > 0)
            pending_.push_back({static_cast<std::size_t>(tree_.branches(step.node)[b]),
                                step.share * shares[b], true});
        step.share = 0;
        break;
      }
      if (step.share > 0) visit(step.node, step.share, step.guessed);
    }
  }

 private:
  struct Step {
    std::size_t node;
    double share;
    bool guessed;
  };
  const Tree& tree_;
  const Columns& table_;
  Unseen unseen_;
  std::vector<Step> pending_;
};

// Rows in runs of leaves: those of row i are leaf[offset[i]] .. leaf[offset[i + 1]].
struct Routes {
  std::vector<std::int64_t> offset;
  std::vector<std::int32_t> node;
  std::vector<double> share;
  std::vector<double> guessed_share;  // a row each
};

// Takes rows begin .. end through a tree, several at a time: the wait for one row's memory is
// filled with the steps of the others, and a row that arrives makes room for the next. A row starts
// by start(number); step(row) moves it on, or says that it stands.
template <class Start, class Step, class Stand>
void walk_together(std::size_t begin, std::size_t end, Start&& start, Step&& step, Stand&& stand) {
  constexpr std::size_t width = 8;
  decltype(start(begin)) rows[width];
  std::size_t next = begin, n_rows = 0;
  while (n_rows < width && next < end) rows[n_rows++] = start(next++);
  while (n_rows > 0) {
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (step(rows[i])) continue;
      stand(rows[i]);
      rows[i] = next < end ? start(next++) : rows[--n_rows];
    }
  }
}

// A tree packed for walking many rows at once, where all its tests are thresholds on numbers and
// the columns lie at equal strides.
class NumberWalk {
 public:
  static bool can_walk(const Tree& tree, const Columns& table) {
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (tree.is_leaf(node)) continue;
      const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
      if (column.kind != Kind::numeric || column.is_narrow || column.stride != table[0].stride ||
          tree.n_branches(node) != 2)
        return false;
    }
    return true;
  }

  NumberWalk(const Tree& tree, const Columns& table) {
    stride_ = table.size() == 0 ? 0 : table[0].stride;
    base_ = table.size() == 0 ? nullptr : table[0].data;
    steps_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      Step step{tree.threshold[node], 0, {-1, -1}};
      if (!tree.is_leaf(node)) {
        step.offset = table[static_cast<std::size_t>(tree.feature[node])].data - base_;
        step.next[0] = tree.branches(node)[0];
        step.next[1] = tree.branches(node)[1];
      }
      steps_.push_back(step);
    }
  }

  // Calls stand(row, node) for rows begin .. end in some order, with the leaf, or the node whose
  // value is missing.
  template <class Stand>
  void operator()(std::size_t begin, std::size_t end, Stand&& stand) const {
    constexpr std::ptrdiff_t ahead = 16;
    const std::ptrdiff_t prefetched = stride_ > 64 && stride_ <= 1024 ? stride_ : 0;
    struct Row {
      const char* data;
      std::size_t number;
      std::int32_t node;
    };
    auto start = [&](std::size_t number) {
      const char* data = base_ + static_cast<std::ptrdiff_t>(number) * stride_;
      // In a table stored by rows, which values a row will be asked for is not known in time.
      if (number + 1 + static_cast<std::size_t>(ahead) < end)
        for (std::ptrdiff_t at = 0; at < prefetched; at += 64)
          __builtin_prefetch(data + ahead * stride_ + at);
      return Row{data, number, 0};
    };
    auto move = [&](Row& row) {
      const Step& step = steps_[static_cast<std::size_t>(row.node)];
      if (step.next[0] < 0) return false;
      const double value = *reinterpret_cast<const double*>(row.data + step.offset);
      if (value != value) return false;
      row.node = step.next[value > step.threshold];  // an index, not a jump to guess
      return true;
    };
    walk_together(begin, end, start, move,
                  [&](const Row& row) { stand(row.number, static_cast<std::size_t>(row.node)); });
  }

 private:
  struct Step {
    double threshold;
    std::ptrdiff_t offset;
    std::int32_t next[2];
  };
  const char* base_;
  std::ptrdiff_t stride_;
  std::vector<Step> steps_;
};

// A walk for rows that may go several ways: along the steps where that can be.
class PartsWalk {
 public:
  PartsWalk(const Tree& tree, const StepTree& steps, const Columns& table, Unseen unseen)
      : steps_(steps), alone_(tree, table, unseen), unseen_(unseen) {}

  template <class Visit>
  void operator()(const char* line, std::size_t row, Visit&& visit) {
    // A line does not tell a missing value from one that is unseen.
    if (unseen_ == Unseen::stop || !steps_.is_packed())
      alone_(row, visit);
    else
      steps_.spread(line, pending_, visit);
  }

 private:
  const StepTree& steps_;
  Walk alone_;
  Unseen unseen_;
  StepTree::Pending pending_;
};

// Calls arrive as walk_all does: row after row, without a packed tree.
template <class Arrive>
void walk_alone(const Tree& tree, const Columns& table, Unseen unseen, std::size_t n_threads,
                Patience& patience, Arrive&& arrive) {
  constexpr std::size_t block = 1024;
  run_jobs((table.n_rows + block - 1) / block, n_threads, patience,
           [&](std::size_t i, std::size_t) {
             Walk alone(tree, table, unseen);
             for (std::size_t row = i * block; row < std::min(table.n_rows, (i + 1) * block); ++row)
               alone(row, [&](std::size_t node, double share, bool guessed) {
                 arrive(row, node, share, guessed);
               });
           });
}

// Calls arrive(row, node, share, guessed) for every place that every row ends in. Rows are taken
// by blocks, which threads share out: what arrive writes must belong to the row.
template <class Arrive>
void walk_all(const WalkedTree& walked, const Columns& table, Unseen unseen, std::size_t n_threads,
              Patience& patience, Arrive&& arrive) {
  const Tree& tree = walked.tree();
  const bool is_of_numbers = StepTree::pays(tree, table) && NumberWalk::can_walk(tree, table);
  if (is_of_numbers) {
    const NumberWalk together(tree, table);
    constexpr std::size_t block = 8192;
    run_jobs((table.n_rows + block - 1) / block, n_threads, patience,
             [&](std::size_t i, std::size_t) {
               Walk alone(tree, table, unseen);
               together(i * block, std::min(table.n_rows, (i + 1) * block),
                        [&](std::size_t row, std::size_t node) {
                          if (tree.is_leaf(node)) return arrive(row, node, 1.0, false);
                          // A missing value: down several branches from here.
                          alone(
                              row,
                              [&](std::size_t end, double share, bool guessed) {
                                arrive(row, end, share, guessed);
                              },
                              node);
                        });
             });
    return;
  }
  const std::shared_ptr<const PackedTree> packed = walked.packed_for(table);
  if (!packed) return walk_alone(tree, table, unseen, n_threads, patience, arrive);
  const StepTree& steps = packed->steps();
  const std::size_t most_rows = RowBlock::max_rows(packed->line());
  const std::size_t n_blocks = (table.n_rows + most_rows - 1) / most_rows;
  std::vector<RowBlock> blocks(std::min(n_threads, n_blocks), RowBlock(packed->line()));
  run_jobs(n_blocks, n_threads, patience, [&](std::size_t i, std::size_t thread) {
    const std::size_t begin = i * most_rows;
    RowBlock& block = blocks[thread];
    block.read(table, begin, std::min(most_rows, table.n_rows - begin));
    PartsWalk parts(tree, steps, table, unseen);
    auto part_out = [&](std::size_t r) {
      parts(block.line(r), begin + r, [&](std::size_t node, double share, bool guessed) {
        arrive(begin + r, node, share, guessed);
      });
    };
    steps.walk(block, [&](std::size_t r, std::int32_t leaf) {
      if (leaf < 0) return part_out(r);
      arrive(begin + r, static_cast<std::size_t>(leaf), 1.0, false);
    });
    for (const std::uint32_t r : block.holed()) part_out(r);
  });
}

inline Routes route(const WalkedTree& tree, const Columns& table, Unseen unseen,
                    Patience& patience) {
  // Nearly all rows end in one place; the others are put in when their number is known.
  std::vector<std::int32_t> first(table.n_rows, -1);
  std::vector<double> first_share(table.n_rows, 0.0);
  struct Further {
    std::size_t row;
    std::int32_t node;
    double share;
  };
  std::vector<Further> further;
  Routes routes;
  routes.guessed_share.assign(table.n_rows, 0.0);
  walk_all(tree, table, unseen, 1, patience,
           [&](std::size_t row, std::size_t node, double share, bool guessed) {
             if (guessed) routes.guessed_share[row] += share;
             if (first[row] < 0) {
               first[row] = static_cast<std::int32_t>(node);
               first_share[row] = share;
             } else {
               further.push_back({row, static_cast<std::int32_t>(node), share});
             }
           });
  std::stable_sort(further.begin(), further.end(),
                   [](const Further& a, const Further& b) { return a.row < b.row; });
  routes.offset.reserve(table.n_rows + 1);
  routes.node.reserve(table.n_rows + further.size());
  routes.share.reserve(table.n_rows + further.size());
  std::size_t at = 0;
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    routes.offset.push_back(static_cast<std::int64_t>(routes.node.size()));
    routes.node.push_back(first[row]);
    routes.share.push_back(first_share[row]);
    for (; at < further.size() && further[at].row == row; ++at) {
      routes.node.push_back(further[at].node);
      routes.share.push_back(further[at].share);
    }
  }
  routes.offset.push_back(static_cast<std::int64_t>(routes.node.size()));
  return routes;
}

// Class weights of every node, leaves and inner nodes, when these rows are sent through the tree.
inline std::vector<double> count_nodes(const Tree& tree, const Columns& table,
                                       std::span<const std::int32_t> labels,
                                       std::span<const double> weights, Patience& patience) {
  std::vector<double> counts(tree.size() * tree.n_classes, 0.0);
  walk_all(tree, table, Unseen::mixture, 1, patience,
           [&](std::size_t row, std::size_t node, double share, bool) {
             const double weight = weights.empty() ? 1.0 : weights[row];
             counts[node * tree.n_classes + static_cast<std::size_t>(labels[row])] +=
                 weight * share;
           });
  // In preorder a child comes after its parent, so one pass backwards adds leaves up to the root.
  for (std::size_t node = tree.size(); node-- > 0;)
    for (const std::int32_t child : tree.branches(node))
      for (std::size_t k = 0; k < tree.n_classes; ++k)
        counts[node * tree.n_classes + k] +=
            counts[static_cast<std::size_t>(child) * tree.n_classes + k];
  return counts;
}

namespace detail {

// The number of values may be a constant, which spares the loops over them.
template <class Size>
void mix(const WalkedTree& tree, const Columns& table, const double* values, Size n_values,
         Unseen unseen, std::size_t n_threads, double* out, Patience& patience) {
  walk_all(tree, table, unseen, n_threads, patience,
           [=](std::size_t row, std::size_t node, double share, bool guessed) {
             double* line = out + row * n_values;
             const double* from = values + node * n_values;
             if (!guessed) {
               for (std::size_t k = 0; k < n_values; ++k) line[k] = from[k];
             } else {
               for (std::size_t k = 0; k < n_values; ++k) line[k] += share * from[k];
             }
           });
}

}  // namespace detail

// Mixtures of the leaves' values (n_nodes x n_values), a line a row, added to `out`: zeros at
// first.
inline void predict(const WalkedTree& tree, const Columns& table, std::span<const double> values,
                    std::size_t n_values, Unseen unseen, std::size_t n_threads, double* out,
                    Patience& patience) {
  const auto mix = [&](auto size) {
    detail::mix(tree, table, values.data(), size, unseen, n_threads, out, patience);
  };
  if (n_values == 2)
    mix(std::integral_constant<std::size_t, 2>());
  else
    mix(n_values);
}

}  // namespace sureleaf
