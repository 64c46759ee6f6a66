// The leaves that a row reaches, and its share in each.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/packed_tree.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// What a row does at a test of a category that the node has not seen in training.
enum class Unseen : std::uint8_t { mixture, stop };

// What branch_of returns if no single branch is taken; -1 is also Tree::missing_branch's value
// then.
inline constexpr std::int32_t branch_missing = -1;
inline constexpr std::int32_t branch_unseen = -2;

inline std::int32_t branch_of(const Tree& tree, std::size_t node, const Columns& table,
                              std::size_t row) {
  const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
  if (column.has_thresholds()) {
    const double value = column.value(row);
    if (std::isnan(value))
      return column.kind == Kind::ordered && column.code(row) == unseen_code
                 ? branch_unseen
                 : tree.missing_branch[node];
    return value <= tree.threshold[node] ? 0 : 1;
  }
  const std::int32_t code = column.code(row);
  if (code == missing_code) return tree.missing_branch[node];
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
    const std::int32_t missing_branch = tree.missing_branch[node];
    use([=](std::size_t row) -> std::int32_t {
      const std::int32_t code = column.code(row);
      if (code == missing_code) return missing_branch;
      if (code < 0 || static_cast<std::size_t>(code) >= branches.size()) return branch_unseen;
      const std::int32_t branch = branches[static_cast<std::size_t>(code)];
      return branch < 0 ? branch_unseen : branch;
    });
  } else {
    use([&](std::size_t row) { return branch_of(tree, node, table, row); });
  }
}

// Calls visit(node, share, imputed) for every node a row ends in; `imputed` means that a missing or
// unseen value decided part of the way.
class RowRouter {
 public:
  RowRouter(const Tree& tree, const Columns& table, Unseen unseen)
      : tree_(tree), table_(table), unseen_(unseen) {}

  // From the root, or from a node that the whole row has reached.
  template <class Visit>
  void operator()(std::size_t row, Visit&& visit, std::size_t start = 0) {
    pending_.assign(1, {start, 1.0, false});
    while (!pending_.empty()) {
      Position position = pending_.back();
      pending_.pop_back();
      while (!tree_.is_leaf(position.node)) {
        const std::int32_t branch = branch_of(tree_, position.node, table_, row);
        if (branch >= 0) {
          position.node = static_cast<std::size_t>(
              tree_.branches(position.node)[static_cast<std::size_t>(branch)]);
          continue;
        }
        position.imputed = true;
        if (branch == branch_unseen && unseen_ == Unseen::stop) break;
        const auto shares = tree_.shares(position.node);
        for (std::size_t b = shares.size(); b-- > 0;)
          if (shares[b] > 0)
            pending_.push_back({static_cast<std::size_t>(tree_.branches(position.node)[b]),
                                position.share * shares[b], true});
        position.share = 0;
        break;
      }
      if (position.share > 0) visit(position.node, position.share, position.imputed);
    }
  }

 private:
  struct Position {
    std::size_t node;
    double share;
    bool imputed;
  };
  const Tree& tree_;
  const Columns& table_;
  Unseen unseen_;
  std::vector<Position> pending_;
};

// The nodes of row i are node[offset[i]] .. node[offset[i + 1] - 1].
struct Routes {
  std::vector<std::int64_t> offset;
  std::vector<std::int32_t> node;
  std::vector<double> share;
  std::vector<double> imputed_share;  // one per row
};

// Takes rows begin .. end through a tree, several at a time: while one row waits for memory, the
// others move. start(row) begins a row, step(row) moves it or returns false at its end, and a row
// that has ended makes room for the next.
template <class Start, class Step, class Stand>
void route_interleaved(std::size_t begin, std::size_t end, Start&& start, Step&& step,
                       Stand&& stand) {
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

// A tree packed for routing many rows at once, if all its tests are thresholds on numbers and the
// columns have equal cell types and strides.
class NumericRouter {
 public:
  static bool can_walk(const Tree& tree, const Columns& table) {
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (tree.is_leaf(node)) continue;
      const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
      if (column.kind != Kind::numeric || column.is_coded_number() ||
          column.cell_type != table[0].cell_type ||
          column.stride != table[0].stride || tree.n_branches(node) != 2)
        return false;
    }
    return true;
  }

  NumericRouter(const Tree& tree, const Columns& table) {
    stride_ = table.size() == 0 ? 0 : table[0].stride;
    base_ = table.size() == 0 ? nullptr : table[0].data;
    cell_type_ = table.size() == 0 ? CellType::float64 : table[0].cell_type;
    nodes_.reserve(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      PackedNode position{tree.threshold[node], 0, {-1, -1}};
      if (!tree.is_leaf(node)) {
        position.offset = table[static_cast<std::size_t>(tree.feature[node])].data - base_;
        position.next[0] = tree.branches(node)[0];
        position.next[1] = tree.branches(node)[1];
      }
      nodes_.push_back(position);
    }
  }

  // Calls stand(row, node) for rows begin .. end in some order, with the leaf, or with the node
  // whose value is missing.
  template <class Stand>
  void operator()(std::size_t begin, std::size_t end, Stand&& stand) const {
    with_cell_type(cell_type_, [&](auto type) { walk<decltype(type)>(begin, end, stand); });
  }

 private:
  struct PackedNode {
    double threshold;
    std::ptrdiff_t offset;
    std::int32_t next[2];
  };

  template <class Cell, class Stand>
  void walk(std::size_t begin, std::size_t end, Stand&& stand) const {
    constexpr std::ptrdiff_t ahead = 16;
    const std::ptrdiff_t prefetched = stride_ > 64 && stride_ <= 1024 ? stride_ : 0;
    struct Row {
      const char* data;
      std::size_t number;
      std::int32_t node;
    };
    auto start = [&](std::size_t number) {
      const char* data = base_ + static_cast<std::ptrdiff_t>(number) * stride_;
      // In a table stored by rows, it is not known in time which values of a row are needed.
      if (number + 1 + static_cast<std::size_t>(ahead) < end)
        for (std::ptrdiff_t at = 0; at < prefetched; at += 64)
          __builtin_prefetch(data + ahead * stride_ + at);
      return Row{data, number, 0};
    };
    auto move = [&](Row& row) {
      const PackedNode& position = nodes_[static_cast<std::size_t>(row.node)];
      if (position.next[0] < 0) return false;
      const auto value = number_of(*reinterpret_cast<const Cell*>(row.data + position.offset));
      if (value != value) return false;
      row.node = position.next[value > position.threshold];  // an index, not a branch to predict
      return true;
    };
    route_interleaved(begin, end, start, move, [&](const Row& row) {
      stand(row.number, static_cast<std::size_t>(row.node));
    });
  }

  const char* base_;
  std::ptrdiff_t stride_;
  CellType cell_type_;
  std::vector<PackedNode> nodes_;
};

// Routes rows that may go down several branches; along packed nodes if possible.
class FractionalRouter {
 public:
  FractionalRouter(const Tree& tree, const PackedNodes& nodes, const Columns& table, Unseen unseen)
      : nodes_(nodes), alone_(tree, table, unseen), unseen_(unseen) {}

  template <class Visit>
  void operator()(const char* packed_row, bool has_unseen_order, std::size_t row, Visit&& visit) {
    // A packed row does not distinguish a missing value of an ordered column from an unseen one.
    if (unseen_ == Unseen::stop || has_unseen_order || !nodes_.is_packed())
      alone_(row, visit);
    else
      nodes_.route_fractional(packed_row, pending_, visit);
  }

 private:
  const PackedNodes& nodes_;
  RowRouter alone_;
  Unseen unseen_;
  PackedNodes::Pending pending_;
};

// Calls arrive as route_rows does, row after row, without a packed tree.
template <class Arrive>
void route_one_by_one(const Tree& tree, const Columns& table, Unseen unseen, std::size_t n_threads,
                      InterruptFlag& interrupt, Arrive&& arrive) {
  constexpr std::size_t block = 1024;
  run_jobs((table.n_rows + block - 1) / block, n_threads, interrupt,
           [&](std::size_t i, std::size_t) {
             RowRouter alone(tree, table, unseen);
             for (std::size_t row = i * block; row < std::min(table.n_rows, (i + 1) * block); ++row)
               alone(row, [&](std::size_t node, double share, bool imputed) {
                 arrive(row, node, share, imputed);
               });
           });
}

// Calls arrive(row, node, share, imputed) for every node that every row ends in. Threads share
// blocks of rows, so arrive may write only what belongs to its row.
template <class Arrive>
void route_rows(const RoutingTree& routing_tree, const Columns& table, Unseen unseen,
                std::size_t n_threads, InterruptFlag& interrupt, Arrive&& arrive) {
  const Tree& tree = routing_tree.tree();
  const bool is_of_numbers = PackedNodes::pays(tree, table) && NumericRouter::can_walk(tree, table);
  if (is_of_numbers) {
    const NumericRouter together(tree, table);
    constexpr std::size_t block = 8192;
    run_jobs((table.n_rows + block - 1) / block, n_threads, interrupt,
             [&](std::size_t i, std::size_t) {
               RowRouter alone(tree, table, unseen);
               together(i * block, std::min(table.n_rows, (i + 1) * block),
                        [&](std::size_t row, std::size_t node) {
                          if (tree.is_leaf(node)) return arrive(row, node, 1.0, false);
                          // A missing value: several branches from here on.
                          alone(
                              row,
                              [&](std::size_t end, double share, bool imputed) {
                                arrive(row, end, share, imputed);
                              },
                              node);
                        });
             });
    return;
  }
  const std::shared_ptr<const PackedTree> packed = routing_tree.packed_for(table);
  if (!packed) return route_one_by_one(tree, table, unseen, n_threads, interrupt, arrive);
  const PackedNodes& nodes = packed->nodes();
  const std::size_t block_rows = RowBlock::max_rows(packed->layout());
  const std::size_t n_blocks = (table.n_rows + block_rows - 1) / block_rows;
  std::vector<RowBlock> blocks(std::min(n_threads, n_blocks), RowBlock(packed->layout()));
  run_jobs(n_blocks, n_threads, interrupt, [&](std::size_t i, std::size_t thread) {
    const std::size_t begin = i * block_rows;
    RowBlock& block = blocks[thread];
    block.read(table, begin, std::min(block_rows, table.n_rows - begin));
    FractionalRouter parts(tree, nodes, table, unseen);
    auto route_parts = [&](std::size_t r) {
      parts(block.row(r), block.has_unseen_order(r), begin + r,
            [&](std::size_t node, double share, bool imputed) {
              arrive(begin + r, node, share, imputed);
            });
    };
    nodes.route(block, [&](std::size_t r, std::int32_t leaf) {
      if (leaf < 0) return route_parts(r);
      arrive(begin + r, static_cast<std::size_t>(leaf), 1.0, false);
    });
    for (const std::uint32_t r : block.incomplete_rows()) route_parts(r);
  });
}

inline Routes route(const RoutingTree& tree, const Columns& table, Unseen unseen,
                    InterruptFlag& interrupt) {
  // Nearly all rows end in one node; the others are inserted when their number is known.
  std::vector<std::int32_t> first(table.n_rows, -1);
  std::vector<double> first_share(table.n_rows, 0.0);
  struct Further {
    std::size_t row;
    std::int32_t node;
    double share;
  };
  std::vector<Further> further;
  Routes routes;
  routes.imputed_share.assign(table.n_rows, 0.0);
  route_rows(tree, table, unseen, 1, interrupt,
             [&](std::size_t row, std::size_t node, double share, bool imputed) {
               if (imputed) routes.imputed_share[row] += share;
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

// Class weights of every node, leaves and inner nodes, when these rows are routed through the tree.
inline std::vector<double> count_nodes(const Tree& tree, const Columns& table,
                                       std::span<const std::int32_t> labels,
                                       std::span<const double> weights, InterruptFlag& interrupt) {
  std::vector<double> counts(tree.size() * tree.n_classes, 0.0);
  route_rows(tree, table, Unseen::mixture, 1, interrupt,
             [&](std::size_t row, std::size_t node, double share, bool) {
               const double weight = weights.empty() ? 1.0 : weights[row];
               counts[node * tree.n_classes + static_cast<std::size_t>(labels[row])] +=
                   weight * share;
             });
  // In preorder a child comes after its parent, so one backward pass adds leaves up to the root.
  for (std::size_t node = tree.size(); node-- > 0;)
    for (const std::int32_t child : tree.branches(node))
      for (std::size_t k = 0; k < tree.n_classes; ++k)
        counts[node * tree.n_classes + k] +=
            counts[static_cast<std::size_t>(child) * tree.n_classes + k];
  return counts;
}

namespace detail {

// The number of values may be a constant, which saves the loops over them.
template <class Size>
void mix(const RoutingTree& tree, const Columns& table, const double* values, Size n_values,
         Unseen unseen, std::size_t n_threads, double* out, InterruptFlag& interrupt) {
  route_rows(tree, table, unseen, n_threads, interrupt,
             [=](std::size_t row, std::size_t node, double share, bool imputed) {
               double* line = out + row * n_values;
               const double* from = values + node * n_values;
               if (!imputed) {
                 for (std::size_t k = 0; k < n_values; ++k) line[k] = from[k];
               } else {
                 for (std::size_t k = 0; k < n_values; ++k) line[k] += share * from[k];
               }
             });
}

}  // namespace detail

// Mixtures of the leaves' values (n_nodes x n_values), one line per row, added to `out`, which
// must be zero at first.
inline void predict(const RoutingTree& tree, const Columns& table, std::span<const double> values,
                    std::size_t n_values, Unseen unseen, std::size_t n_threads, double* out,
                    InterruptFlag& interrupt) {
  const auto mix = [&](auto size) {
    detail::mix(tree, table, values.data(), size, unseen, n_threads, out, interrupt);
  };
  if (n_values == 2)
    mix(std::integral_constant<std::size_t, 2>());
  else
    mix(n_values);
}

}  // namespace sureleaf
