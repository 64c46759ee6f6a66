// Packed rows, and a tree packed to route several of them at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

inline bool is_missing(double x) { return x != x; }
inline bool is_missing(std::int32_t code) { return code < 0; }

// Where the tested columns are in a packed row, in units of four bytes: numbers and positions of
// ordered categories, then codes. A packed row also has a number and a code that are always 0, for
// nodes that do not test one.
class RowLayout {
 public:
  static constexpr std::size_t unit = 4;

  RowLayout(const Columns& table, std::span<const Tree* const> trees)
      : offset_of_(table.size(), 0) {
    std::vector<char> is_tested(table.size(), 0);
    for (const Tree* tree : trees)
      for (const std::int32_t feature : tree->feature)
        if (feature >= 0) is_tested[static_cast<std::size_t>(feature)] = 1;
    for (const bool numbers : {true, false})
      for (std::size_t j = 0; j < table.size(); ++j) {
        if (!is_tested[j] || table[j].has_thresholds() != numbers) continue;
        offset_of_[j] = size_;
        columns_.push_back(j);
        size_ += numbers ? 2 : 1;
      }
    if (size_ >= max_size) {
      columns_.clear();
      size_ = 2;
      fits_ = false;
    }
    zero_code_ = size_++;
    size_ += size_ % 2;
  }
  // Whether a node can hold the offset of every column; if not, packed rows are empty.
  bool fits() const { return fits_; }
  std::size_t size() const { return size_; }
  std::size_t offset_of(std::size_t column) const { return offset_of_[column]; }
  std::size_t zero_number() const { return 0; }
  std::size_t zero_code() const { return zero_code_; }
  std::span<const std::size_t> columns() const { return columns_; }

 private:
  static constexpr std::size_t max_size = std::numeric_limits<std::uint16_t>::max();
  std::vector<std::size_t> offset_of_, columns_;
  std::size_t size_ = 2, zero_code_;
  bool fits_ = true;
};

// A block of packed rows: complete rows, and rows in which a tested value is missing or unseen.
class RowBlock {
 public:
  static std::size_t max_rows(const RowLayout& layout) {
    return std::clamp<std::size_t>(max_bytes / (RowLayout::unit * layout.size()), 64, 1024);
  }
  explicit RowBlock(const RowLayout& layout)
      : layout_(layout),
        cells_(max_rows(layout) * layout.size() / 2, 0.0),
        has_missing_(max_rows(layout)),
        has_unseen_order_(max_rows(layout)) {}

  void read(const Columns& table, std::size_t first, std::size_t n) {
    std::fill(has_missing_.begin(), has_missing_.end(), char{0});
    std::fill(has_unseen_order_.begin(), has_unseen_order_.end(), char{0});
    for (const std::size_t j : layout_.columns()) {
      const Column column = table[j];
      char* to = reinterpret_cast<char*>(cells_.data()) + RowLayout::unit * layout_.offset_of(j);
      auto known = [&](std::int32_t code) {
        return code < column.n_categories ? code : unseen_code;
      };
      if (column.kind == Kind::ordered)
        put(to, n, [&](std::size_t r) {
          const std::int32_t code = column.code(first + r);
          has_unseen_order_[r] = static_cast<char>(has_unseen_order_[r] | (code == unseen_code));
          return Column::position_of(code);
        });
      else if (column.kind == Kind::numeric)
        column.with_values(
            [&](auto&& value) { put(to, n, [&](std::size_t r) { return value(first + r); }); });
      else if (column.cell_type == CellType::int8)
        put(to, n, [&](std::size_t r) { return known(column.cell<std::int8_t>(first + r)); });
      else if (column.cell_type == CellType::uint8)
        put(to, n, [&](std::size_t r) { return column.code(first + r); });
      else
        put(to, n, [&](std::size_t r) { return known(column.cell<std::int32_t>(first + r)); });
    }
    complete_.clear();
    incomplete_.clear();
    for (std::size_t r = 0; r < n; ++r)
      (has_missing_[r] ? incomplete_ : complete_).push_back(static_cast<std::uint32_t>(r));
  }
  const char* row(std::size_t r) const {
    return reinterpret_cast<const char*>(cells_.data()) + r * RowLayout::unit * layout_.size();
  }
  // Whether an ordered column of the row has a category that is not in the table's list.
  bool has_unseen_order(std::size_t r) const { return has_unseen_order_[r] != 0; }
  std::span<const std::uint32_t> complete_rows() const { return complete_; }
  std::span<const std::uint32_t> incomplete_rows() const { return incomplete_; }

 private:
  static constexpr std::size_t max_bytes = 1 << 21;

  template <class Cell>
  void put(char* to, std::size_t n, Cell&& cell) {
    const std::size_t row_bytes = RowLayout::unit * layout_.size();
    char* const has_missing = has_missing_.data();
    for (std::size_t r = 0; r < n; ++r, to += row_bytes) {
      const auto x = cell(r);
      std::memcpy(to, &x, sizeof x);
      has_missing[r] = static_cast<char>(has_missing[r] | static_cast<char>(is_missing(x)));
    }
  }

  const RowLayout& layout_;
  std::vector<double> cells_;
  std::vector<char> has_missing_, has_unseen_order_;
  std::vector<std::uint32_t> complete_, incomplete_;
};

// One packed node for each side of a threshold and for each category. Those of a node's branches
// are adjacent, so a row finds its way by addition, without a branch to predict. A leaf leads to
// itself. Packed nodes are small, because those of a full tree just fit into the cache.
class PackedNodes {
 public:
  static constexpr std::size_t width = 8;
  static constexpr std::int32_t not_routed = -1;

  // Fractions of a row that are still to be routed, from a packed node on or in a leaf; the memory
  // is reused.
  struct Part {
    std::int32_t at;  // ~node for a leaf
    double share;
  };
  using Pending = std::vector<Part>;

  // Packing takes a while, so it does not pay for few rows.
  static bool pays(const Tree& tree, const Columns& table) {
    return 16 * table.n_rows >= tree.size();
  }

  PackedNodes(const Tree& tree, const Columns& table, const RowLayout& layout) : tree_(tree) {
    const PackedNode end{infinity, 0, static_cast<std::uint16_t>(layout.zero_number()),
                         static_cast<std::uint16_t>(layout.zero_code())};
    add_ends(1, end, 0);
    is_packed_ =
        pays(tree, table) && layout.fits() && tree.category_branch.size() <= max_categories;
    if (!is_packed_) return;
    nodes_.reserve(tree.size());
    node_of_.reserve(tree.size());
    std::vector<std::int32_t> position_of(tree.size(), unplaced);  // of a node's packed node
    position_of[0] = 0;
    struct Copy {
      std::size_t at, node;
    };
    std::vector<Copy> copies;  // packed nodes of a branch that several categories take
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (position_of[node] == unplaced) {  // only missing values lead here
        position_of[node] = static_cast<std::int32_t>(nodes_.size());
        add_ends(1, end, node);
      }
      const auto at = static_cast<std::size_t>(position_of[node]);
      node_of_[at] = static_cast<std::int32_t>(node);
      if (tree.is_leaf(node)) {
        nodes_[at].threshold = static_cast<double>(node);
        continue;
      }
      const auto feature = static_cast<std::size_t>(tree.feature[node]);
      const auto offset = static_cast<std::uint16_t>(layout.offset_of(feature));
      const auto branches = tree.branches(node);
      const std::size_t next = nodes_.size();
      nodes_[at].next = static_cast<std::int32_t>(next);
      if (table[feature].has_thresholds()) {
        nodes_[at].threshold = tree.threshold[node];
        nodes_[at].number_offset = offset;
        add_ends(std::max<std::size_t>(2, branches.size()), end, node);
        for (std::size_t b = 0; b < branches.size(); ++b)
          position_of[static_cast<std::size_t>(branches[b])] = static_cast<std::int32_t>(next + b);
        continue;
      }
      nodes_[at].code_offset = offset;
      const auto categories = tree.category_branches(node);
      add_ends(static_cast<std::size_t>(table[feature].n_categories), end, node);
      for (std::size_t c = 0; c < std::min(categories.size(), nodes_.size() - next); ++c) {
        if (categories[c] < 0) continue;
        const auto child =
            static_cast<std::size_t>(branches[static_cast<std::size_t>(categories[c])]);
        if (position_of[child] == unplaced)
          position_of[child] = static_cast<std::int32_t>(next + c);
        else
          copies.push_back({next + c, child});
      }
    }
    branch_start_.reserve(tree.children.size());
    for (const std::int32_t child : tree.children)
      branch_start_.push_back(tree.is_leaf(static_cast<std::size_t>(child))
                                  ? ~child
                                  : position_of[static_cast<std::size_t>(child)]);
    for (const Copy& copy : copies) {
      nodes_[copy.at] = nodes_[static_cast<std::size_t>(position_of[copy.node])];
      node_of_[copy.at] = static_cast<std::int32_t>(copy.node);
    }
  }

  // If not packed, no row can be routed by it.
  bool is_packed() const { return is_packed_; }

  // Calls arrive(row of the block, leaf) for the complete rows; not_routed if a node has not seen
  // the category.
  template <class Arrive>
  void route(const RowBlock& block, Arrive&& arrive) const {
    for (std::size_t first = 0; first < block.complete_rows().size(); first += width)
      route_some(block,
                 block.complete_rows().subspan(
                     first, std::min(width, block.complete_rows().size() - first)),
                 arrive);
  }

  // Calls visit(node, share, imputed) for every leaf of a row; it goes down all branches where its
  // value is missing or unseen.
  template <class Visit>
  void route_fractional(const char* packed_row, Pending& pending, Visit&& visit) const {
    bool imputed = false;
    if (pending.empty()) pending.resize(1);
    pending[0] = {0, 1.0};
    std::size_t n_pending = 1;
    while (n_pending > 0) {
      const Part part = pending[--n_pending];
      if (part.at < 0) {
        if (part.share > 0) visit(static_cast<std::size_t>(~part.at), part.share, imputed);
        continue;
      }
      auto at = static_cast<std::size_t>(part.at);
      for (;;) {
        const PackedNode& node_here = nodes_[at];
        const double x = node_here.number(packed_row);
        const std::int32_t code = node_here.code(packed_row);
        const auto next = static_cast<std::size_t>(node_here.after(x, code));
        const bool leads_on = !is_missing(x) && !is_missing(code);
        if (leads_on && next != at) {
          at = next;
          continue;
        }
        if (leads_on && node_here.threshold < infinity) {
          if (part.share > 0)
            visit(static_cast<std::size_t>(node_here.threshold), part.share, imputed);
          break;
        }
        const auto node = static_cast<std::size_t>(node_of_[at]);
        const std::int32_t* starts = branch_start_.data() + tree_.child_offset[node];
        const std::int32_t missing_branch = tree_.missing_branch[node];
        if (!leads_on && code != unseen_code && missing_branch >= 0) {
          if (starts[missing_branch] >= 0) {
            at = static_cast<std::size_t>(starts[missing_branch]);
            continue;
          }
          visit(static_cast<std::size_t>(~starts[missing_branch]), part.share, imputed);
          break;
        }
        imputed = true;
        const auto shares = tree_.shares(node);
        if (pending.size() < n_pending + shares.size())
          pending.resize(2 * (n_pending + shares.size()));
        for (std::size_t b = shares.size(); b-- > 0;) {
          // Written in any case and kept if the share is positive: no branch to mispredict.
          pending[n_pending] = {starts[b], part.share * shares[b]};
          n_pending += shares[b] > 0;
        }
        break;
      }
    }
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t max_categories = 1 << 22;
  static constexpr std::int32_t unplaced = -1;

  struct PackedNode {
    double threshold;  // of a leaf: its node; infinite: nothing follows
    std::int32_t next;
    std::uint16_t number_offset, code_offset;

    double number(const char* packed_row) const {
      double x;
      std::memcpy(&x, packed_row + RowLayout::unit * number_offset, sizeof x);
      return x;
    }
    std::int32_t code(const char* packed_row) const {
      std::int32_t value;
      std::memcpy(&value, packed_row + RowLayout::unit * code_offset, sizeof value);
      return value;
    }
    std::int32_t after(double x, std::int32_t code_) const {
      return next + code_ + static_cast<std::int32_t>(x > threshold);
    }
  };
  template <class Arrive>
  void route_some(const RowBlock& block, std::span<const std::uint32_t> rows,
                  Arrive&& arrive) const {
    const char* packed_rows[width];
    for (std::size_t i = 0; i < width; ++i)
      packed_rows[i] = block.row(rows[std::min(i, rows.size() - 1)]);
    const PackedNode* const nodes = nodes_.data();
    std::int32_t at[width] = {};
    for (std::int32_t moved = 1; moved != 0;) {
      moved = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const PackedNode& node_here = nodes[at[i]];
        const std::int32_t next =
            node_here.after(node_here.number(packed_rows[i]), node_here.code(packed_rows[i]));
        moved |= next ^ at[i];
        at[i] = next;
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double node = nodes[at[i]].threshold;
      arrive(rows[i], node < infinity ? static_cast<std::int32_t>(node) : not_routed);
    }
  }
  void add_ends(std::size_t n, PackedNode end, std::size_t node) {
    for (std::size_t i = 0; i < n; ++i) {
      end.next = static_cast<std::int32_t>(nodes_.size());
      nodes_.push_back(end);
      node_of_.push_back(static_cast<std::int32_t>(node));
    }
  }

  const Tree& tree_;
  bool is_packed_ = false;
  std::vector<PackedNode> nodes_;
  std::vector<std::int32_t> node_of_;       // of a packed node; if nothing follows, the node before
  std::vector<std::int32_t> branch_start_;  // of each branch: its packed node, or ~node for a leaf
};

}  // namespace sureleaf

namespace sureleaf {

// A packed tree for all tables whose columns have the same kinds and categories.
class PackedTree {
 public:
  PackedTree(const Tree& tree, const Columns& table)
      : layout_(table, std::vector<const Tree*>{&tree}), nodes_(tree, table, layout_) {
    for (const Column& column : table.columns)
      columns_.push_back({column.kind, column.n_categories});
  }
  bool suits(const Columns& table) const {
    return std::equal(columns_.begin(), columns_.end(), table.columns.begin(), table.columns.end(),
                      [](const Held& held, const Column& column) {
                        return held.kind == column.kind && held.n_categories == column.n_categories;
                      });
  }
  const RowLayout& layout() const { return layout_; }
  const PackedNodes& nodes() const { return nodes_; }

 private:
  struct Held {
    Kind kind;
    std::int32_t n_categories;
  };
  std::vector<Held> columns_;
  RowLayout layout_;
  PackedNodes nodes_;
};

// A tree for routing, possibly many times and on several threads; keeps its packed form. Any tree
// converts to one.
class RoutingTree {
 public:
  RoutingTree(const Tree& tree) : tree_(tree) {}  // NOLINT: meant to convert

  const Tree& tree() const { return tree_; }

  // The columns that are tested, with the number of categories; found once.
  const std::vector<ColumnTest>& tests() const {
    std::call_once(tests_found_, [this] { tests_ = column_tests(tree_); });
    return tests_;
  }

  // nullptr if the tree cannot be packed, or if it is not yet packed and the rows are too few.
  std::shared_ptr<const PackedTree> packed_for(const Columns& table) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!packed_ || !packed_->suits(table)) {
      if (!PackedNodes::pays(tree_, table)) return nullptr;
      packed_ = std::make_shared<const PackedTree>(tree_, table);
    }
    return packed_->nodes().is_packed() ? packed_ : nullptr;
  }

 private:
  const Tree& tree_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const PackedTree> packed_;
  mutable std::once_flag tests_found_;
  mutable std::vector<ColumnTest> tests_;
};

}  // namespace sureleaf
