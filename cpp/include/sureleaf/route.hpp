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

// Whether all tests are thresholds on numbers, the columns have equal cell types and strides, and
// a `NumericRouter` can hold where columns begin and what they are compared with.
inline bool tests_equal_numbers(const Tree& tree, const Columns& table) {
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (tree.is_leaf(node)) continue;
    const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
    if (column.kind != Kind::numeric || column.is_coded_number() ||
        column.cell_type != table[0].cell_type || column.stride != table[0].stride ||
        tree.n_branches(node) != 2)
      return false;
    const std::ptrdiff_t bytes = column.data - table[0].data;
    const bool is_held = with_cell_type(column.cell_type, [&](auto cell) {
      constexpr auto size = static_cast<std::ptrdiff_t>(sizeof cell);
      const std::ptrdiff_t cells = bytes / size;
      if (cells * size != bytes || cells != static_cast<std::int32_t>(cells)) return false;
      return !std::is_integral_v<decltype(cell)> || size < 4 ||
             tree.threshold[node] >=
                 static_cast<double>(std::numeric_limits<decltype(cell)>::min());
    });
    if (!is_held) return false;
  }
  return true;
}

// A tree packed for routing many rows at once, if it tests equal numbers. Rows are read where they
// lie, and compared in their own type.
template <class Cell>
class NumericRouter {
 public:
  NumericRouter(const Tree& tree, const Columns& table)
      : nodes_(tree.size()), node_of_(tree.size()) {
    if (table.size() > 0) {
      stride_ = table[0].stride;
      base_ = table[0].data;
    }
    std::vector<std::int32_t> position_of(tree.size(), 0);
    std::int32_t n_placed = 1;
    for (std::size_t node = 0; node < tree.size(); ++node) {  // in preorder, so parents first
      const auto at = static_cast<std::size_t>(position_of[node]);
      node_of_[at] = static_cast<std::int32_t>(node);
      if (tree.is_leaf(node)) continue;
      const Column& column = table[static_cast<std::size_t>(tree.feature[node])];
      const auto cell = static_cast<std::int32_t>((column.data - base_) /
                                                  static_cast<std::ptrdiff_t>(sizeof(Cell)));
      nodes_[at] = {bound_of(tree.threshold[node]), n_placed, cell};
      for (const std::int32_t child : tree.branches(node)) {
        position_of[static_cast<std::size_t>(child)] = n_placed;
        // A leaf reads the cell of its parent, which is not missing.
        nodes_[static_cast<std::size_t>(n_placed)] = {
            bound_of(std::numeric_limits<double>::infinity()), n_placed, cell};
        ++n_placed;
      }
    }
  }

  // Calls stand(row, node) for rows begin .. end, with the leaf, or with the node whose value is
  // missing.
  template <class Stand>
  void operator()(std::size_t begin, std::size_t end, Stand&& stand) const {
    std::size_t row = begin;
    if (nodes_.size() == 1)
      for (; row < end; ++row) stand(row, std::size_t{0});
    for (; row + width <= end; row += width) walk_together(row, end, stand);
    for (; row < end; ++row) stand(row, walk_alone(row));
  }

 private:
  static constexpr std::size_t width = 8;
  static constexpr bool is_float = std::is_floating_point_v<Cell>;
  using Bound = std::conditional_t<is_float || sizeof(Cell) == 8, Cell, std::int32_t>;

  // The two branches of a node are adjacent, so a row finds its way by addition, without a branch
  // to predict. A leaf leads to itself.
  struct PackedNode {
    Bound bound;
    std::int32_t next, cell;
    std::int32_t after(Cell x) const { return next + static_cast<std::int32_t>(x > bound); }
  };

  // The largest value of the type that is not above the threshold: cells above the one are above
  // the other.
  static Bound bound_of(double threshold) {
    if constexpr (std::is_same_v<Bound, double>) {
      return threshold;
    } else if constexpr (std::is_same_v<Bound, float>) {
      constexpr double largest = std::numeric_limits<float>::max();
      if (std::isinf(threshold)) return static_cast<float>(threshold);
      if (threshold < -largest) return -std::numeric_limits<float>::infinity();
      const auto bound = static_cast<float>(std::min(threshold, largest));
      return static_cast<double>(bound) <= threshold
                 ? bound
                 : std::nextafter(bound, -std::numeric_limits<float>::infinity());
    } else {
      constexpr auto least = std::numeric_limits<Bound>::min();
      constexpr auto largest = std::numeric_limits<Bound>::max();
      const double whole = std::floor(threshold);
      if (whole >= static_cast<double>(largest)) return largest;
      return whole <= static_cast<double>(least) ? least : static_cast<Bound>(whole);
    }
  }

  const Cell* cells_of(std::size_t row) const {
    return reinterpret_cast<const Cell*>(base_ + static_cast<std::ptrdiff_t>(row) * stride_);
  }

  // While one row waits for memory, the others move. Those that have arrived stand still.
  template <class Stand>
  void walk_together(std::size_t first, std::size_t end, Stand&& stand) const {
    const PackedNode* const nodes = nodes_.data();
    const Cell* cells[width];
    std::int32_t at[width] = {};
    Cell missing[width] = {};  // becomes NaN
    for (std::size_t i = 0; i < width; ++i) cells[i] = cells_of(first + i);
    // In a table stored by rows, it is not known in time which values of a row are needed. Those of
    // later rows are all fetched, two lines per step: with more at once the processor waits.
    constexpr std::ptrdiff_t line = 64;
    const char *ahead = nullptr, *ahead_end = nullptr;
    if (stride_ > line && stride_ <= 1024 && first + 3 * width <= end) {
      ahead = reinterpret_cast<const char*>(cells_of(first + 2 * width));
      ahead_end = ahead + static_cast<std::ptrdiff_t>(width) * stride_;
    }
    for (std::int32_t moved = 1; moved != 0;) {
      moved = 0;
      if (ahead < ahead_end) {
        __builtin_prefetch(ahead);
        __builtin_prefetch(ahead + line);
        ahead += 2 * line;
      }
      for (std::size_t i = 0; i < width; ++i) {
        const PackedNode& node = nodes[at[i]];
        const Cell x = cells[i][node.cell];
        const std::int32_t next = node.after(x);
        if constexpr (is_float) missing[i] += x - x;
        moved |= next ^ at[i];
        at[i] = next;
      }
    }
    for (; ahead < ahead_end; ahead += line) __builtin_prefetch(ahead);  // after a short way
    for (std::size_t i = 0; i < width; ++i) {
      // Not only if a value is missing: the difference of infinite numbers is not a number, too.
      if (missing[i] != missing[i])
        stand(first + i, walk_alone(first + i));
      else
        stand(first + i, static_cast<std::size_t>(node_of_[static_cast<std::size_t>(at[i])]));
    }
  }

  std::size_t walk_alone(std::size_t row) const {
    const Cell* const cells = cells_of(row);
    for (std::int32_t at = 0;;) {
      const PackedNode& node = nodes_[static_cast<std::size_t>(at)];
      const Cell x = cells[node.cell];
      if (node.next == at || x != x)
        return static_cast<std::size_t>(node_of_[static_cast<std::size_t>(at)]);
      at = node.after(x);
    }
  }

  const char* base_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  std::vector<PackedNode> nodes_;
  std::vector<std::int32_t> node_of_;
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
  if (PackedNodes::pays(tree, table) && tests_equal_numbers(tree, table)) {
    const CellType cell_type = table.size() == 0 ? CellType::float64 : table[0].cell_type;
    with_cell_type(cell_type, [&](auto cell) {
      const NumericRouter<decltype(cell)> together(tree, table);
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
