// Rows as lines, and a tree packed to walk several of them at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

inline bool is_hole(double x) { return x != x; }
inline bool is_hole(std::int32_t code) { return code < 0; }

// Where the columns that trees test lie in a line, in units of four bytes: numbers and places of
// ordered categories, then codes. A line has a number and a code that are always 0, for steps that
// do not ask for one.
class Line {
 public:
  static constexpr std::size_t unit = 4;

  Line(const Columns& table, std::span<const Tree* const> trees) : place_of_(table.size(), 0) {
    std::vector<char> is_tested(table.size(), 0);
    for (const Tree* tree : trees)
      for (const std::int32_t feature : tree->feature)
        if (feature >= 0) is_tested[static_cast<std::size_t>(feature)] = 1;
    for (const bool numbers : {true, false})
      for (std::size_t j = 0; j < table.size(); ++j) {
        if (!is_tested[j] || table[j].has_thresholds() != numbers) continue;
        place_of_[j] = size_;
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
  // Whether a step can say where a column lies; else a line is empty.
  bool fits() const { return fits_; }
  std::size_t size() const { return size_; }
  std::size_t place_of(std::size_t column) const { return place_of_[column]; }
  std::size_t zero_number() const { return 0; }
  std::size_t zero_code() const { return zero_code_; }
  std::span<const std::size_t> columns() const { return columns_; }

 private:
  static constexpr std::size_t max_size = std::numeric_limits<std::uint16_t>::max();
  std::vector<std::size_t> place_of_, columns_;
  std::size_t size_ = 2, zero_code_;
  bool fits_ = true;
};

// Some rows as lines: those that have all values which trees may ask for, and those with holes.
class RowBlock {
 public:
  static std::size_t max_rows(const Line& line) {
    return std::clamp<std::size_t>(max_bytes / (Line::unit * line.size()), 64, 1024);
  }
  explicit RowBlock(const Line& line)
      : line_(line), cells_(max_rows(line) * line.size() / 2, 0.0), has_hole_(max_rows(line)) {}

  void read(const Columns& table, std::size_t first, std::size_t n) {
    std::fill(has_hole_.begin(), has_hole_.end(), char{0});
    for (const std::size_t j : line_.columns()) {
      const Column column = table[j];
      char* to = reinterpret_cast<char*>(cells_.data()) + Line::unit * line_.place_of(j);
      auto known = [&](std::int32_t code) {
        return code < column.n_categories ? code : unseen_code;
      };
      if (column.kind == Kind::ordered)
        put(to, n, [&](std::size_t r) { return column.walked_value(first + r); });
      else if (column.kind == Kind::numeric && column.is_narrow)
        put(to, n, [&](std::size_t r) {
          return static_cast<double>(column.cell<std::int64_t>(first + r));
        });
      else if (column.kind == Kind::numeric)
        put(to, n, [&](std::size_t r) { return column.cell<double>(first + r); });
      else if (column.is_narrow)
        put(to, n, [&](std::size_t r) { return known(column.cell<std::int8_t>(first + r)); });
      else
        put(to, n, [&](std::size_t r) { return known(column.cell<std::int32_t>(first + r)); });
    }
    whole_.clear();
    holed_.clear();
    for (std::size_t r = 0; r < n; ++r)
      (has_hole_[r] ? holed_ : whole_).push_back(static_cast<std::uint32_t>(r));
  }
  const char* line(std::size_t r) const {
    return reinterpret_cast<const char*>(cells_.data()) + r * Line::unit * line_.size();
  }
  std::span<const std::uint32_t> whole() const { return whole_; }
  std::span<const std::uint32_t> holed() const { return holed_; }

 private:
  static constexpr std::size_t max_bytes = 1 << 21;

  template <class Cell>
  void put(char* to, std::size_t n, Cell&& cell) {
    const std::size_t step = Line::unit * line_.size();
    char* const has_hole = has_hole_.data();
    for (std::size_t r = 0; r < n; ++r, to += step) {
      const auto x = cell(r);
      std::memcpy(to, &x, sizeof x);
      has_hole[r] = static_cast<char>(has_hole[r] | static_cast<char>(is_hole(x)));
    }
  }

  const Line& line_;
  std::vector<double> cells_;
  std::vector<char> has_hole_;
  std::vector<std::uint32_t> whole_, holed_;
};

// A step for each side of a threshold and for each category. Those of a node's branches lie side by
// side, so that a row finds its way by adding: nothing to look up, and nothing to guess. A leaf
// leads to itself. Steps are small, for those of a full tree only just fit into the cache.
class StepTree {
 public:
  static constexpr std::size_t width = 8;
  static constexpr std::int32_t not_walked = -1;

  // Parts of a row that are still to be walked, from a step on or in a leaf; memory to be reused.
  struct Part {
    std::int32_t at;  // ~node of a leaf
    double share;
  };
  using Pending = std::vector<Part>;

  // Not for few rows, since it takes a while to pack a tree.
  static bool pays(const Tree& tree, const Columns& table) {
    return 16 * table.n_rows >= tree.size();
  }

  StepTree(const Tree& tree, const Columns& table, const Line& line) : tree_(tree) {
    const Step end{infinity, 0, static_cast<std::uint16_t>(line.zero_number()),
                   static_cast<std::uint16_t>(line.zero_code())};
    add_ends(1, end, 0);
    is_packed_ = pays(tree, table) && line.fits() && tree.category_branch.size() <= max_categories;
    if (!is_packed_) return;
    steps_.reserve(tree.size());
    node_of_.reserve(tree.size());
    std::vector<std::int32_t> place_of(tree.size(), no_place);  // of a node's step
    place_of[0] = 0;
    struct Copy {
      std::size_t at, node;
    };
    std::vector<Copy> copies;  // of the step of a branch that several categories take
    for (std::size_t node = 0; node < tree.size(); ++node) {
      if (place_of[node] == no_place) {  // no category leads here, but a missing one does
        place_of[node] = static_cast<std::int32_t>(steps_.size());
        add_ends(1, end, node);
      }
      const auto at = static_cast<std::size_t>(place_of[node]);
      node_of_[at] = static_cast<std::int32_t>(node);
      if (tree.is_leaf(node)) {
        steps_[at].threshold = static_cast<double>(node);
        continue;
      }
      const auto feature = static_cast<std::size_t>(tree.feature[node]);
      const auto place = static_cast<std::uint16_t>(line.place_of(feature));
      const auto branches = tree.branches(node);
      const std::size_t next = steps_.size();
      steps_[at].next = static_cast<std::int32_t>(next);
      if (table[feature].has_thresholds()) {
        steps_[at].threshold = tree.threshold[node];
        steps_[at].number_at = place;
        add_ends(std::max<std::size_t>(2, branches.size()), end, node);
        for (std::size_t b = 0; b < branches.size(); ++b)
          place_of[static_cast<std::size_t>(branches[b])] = static_cast<std::int32_t>(next + b);
        continue;
      }
      steps_[at].code_at = place;
      const auto categories = tree.category_branches(node);
      add_ends(static_cast<std::size_t>(table[feature].n_categories), end, node);
      for (std::size_t c = 0; c < std::min(categories.size(), steps_.size() - next); ++c) {
        if (categories[c] < 0) continue;
        const auto child =
            static_cast<std::size_t>(branches[static_cast<std::size_t>(categories[c])]);
        if (place_of[child] == no_place)
          place_of[child] = static_cast<std::int32_t>(next + c);
        else
          copies.push_back({next + c, child});
      }
    }
    starts_.reserve(tree.children.size());
    for (const std::int32_t child : tree.children)
      starts_.push_back(tree.is_leaf(static_cast<std::size_t>(child))
                            ? ~child
                            : place_of[static_cast<std::size_t>(child)]);
    for (const Copy& copy : copies) {
      steps_[copy.at] = steps_[static_cast<std::size_t>(place_of[copy.node])];
      node_of_[copy.at] = static_cast<std::int32_t>(copy.node);
    }
  }

  // If not, there is nothing but an end: no row is walked, and none can be spread.
  bool is_packed() const { return is_packed_; }

  // Calls arrive(row of the block, leaf) for its whole rows; not_walked where a node has not seen
  // the category.
  template <class Arrive>
  void walk(const RowBlock& block, Arrive&& arrive) const {
    for (std::size_t first = 0; first < block.whole().size(); first += width)
      walk_some(block, block.whole().subspan(first, std::min(width, block.whole().size() - first)),
                arrive);
  }

  // Calls visit(node, share, guessed) for every leaf of a row, which goes down all branches where
  // its value is missing or unseen.
  template <class Visit>
  void spread(const char* line, Pending& pending, Visit&& visit) const {
    bool guessed = false;
    if (pending.empty()) pending.resize(1);
    pending[0] = {0, 1.0};
    std::size_t n_pending = 1;
    while (n_pending > 0) {
      const Part row = pending[--n_pending];
      if (row.at < 0) {
        if (row.share > 0) visit(static_cast<std::size_t>(~row.at), row.share, guessed);
        continue;
      }
      auto at = static_cast<std::size_t>(row.at);
      for (;;) {
        const Step& step = steps_[at];
        const double x = step.number(line);
        const std::int32_t code = step.code(line);
        const auto next = static_cast<std::size_t>(step.after(x, code));
        const bool leads_on = !is_hole(x) && !is_hole(code);
        if (leads_on && next != at) {
          at = next;
          continue;
        }
        if (leads_on && step.threshold < infinity) {
          if (row.share > 0) visit(static_cast<std::size_t>(step.threshold), row.share, guessed);
          break;
        }
        guessed = true;
        const auto node = static_cast<std::size_t>(node_of_[at]);
        const auto shares = tree_.shares(node);
        const std::int32_t* starts = starts_.data() + tree_.child_offset[node];
        if (pending.size() < n_pending + shares.size())
          pending.resize(2 * (n_pending + shares.size()));
        for (std::size_t b = shares.size(); b-- > 0;) {
          // Written in any case and kept if there is a share: what is to come cannot be guessed.
          pending[n_pending] = {starts[b], row.share * shares[b]};
          n_pending += shares[b] > 0;
        }
        break;
      }
    }
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t max_categories = 1 << 22;
  static constexpr std::int32_t no_place = -1;

  struct Step {
    double threshold;  // of a leaf: its node; infinite: nothing leads on
    std::int32_t next;
    std::uint16_t number_at, code_at;

    double number(const char* line) const {
      double x;
      std::memcpy(&x, line + Line::unit * number_at, sizeof x);
      return x;
    }
    std::int32_t code(const char* line) const {
      std::int32_t found;
      std::memcpy(&found, line + Line::unit * code_at, sizeof found);
      return found;
    }
    std::int32_t after(double x, std::int32_t code_) const {
      return next + code_ + static_cast<std::int32_t>(x > threshold);
    }
  };
  template <class Arrive>
  void walk_some(const RowBlock& block, std::span<const std::uint32_t> rows,
                 Arrive&& arrive) const {
    const char* lines[width];
    for (std::size_t i = 0; i < width; ++i)
      lines[i] = block.line(rows[std::min(i, rows.size() - 1)]);
    const Step* const steps = steps_.data();
    std::int32_t at[width] = {};
    for (std::int32_t moved = 1; moved != 0;) {
      moved = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const Step& step = steps[at[i]];
        const std::int32_t next = step.after(step.number(lines[i]), step.code(lines[i]));
        moved |= next ^ at[i];
        at[i] = next;
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double node = steps[at[i]].threshold;
      arrive(rows[i], node < infinity ? static_cast<std::int32_t>(node) : not_walked);
    }
  }
  void add_ends(std::size_t n, Step end, std::size_t node) {
    for (std::size_t i = 0; i < n; ++i) {
      end.next = static_cast<std::int32_t>(steps_.size());
      steps_.push_back(end);
      node_of_.push_back(static_cast<std::int32_t>(node));
    }
  }

  const Tree& tree_;
  bool is_packed_ = false;
  std::vector<Step> steps_;
  std::vector<std::int32_t> node_of_;  // of a step; where nothing leads on, the node before
  std::vector<std::int32_t> starts_;   // of each branch: its step, or ~node of a leaf
};

}  // namespace sureleaf
