// A tree with its packed form, which is made once and kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/steps.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf {

// A tree as steps along lines, for all tables with columns of the same kinds and categories.
class PackedTree {
 public:
  PackedTree(const Tree& tree, const Columns& table)
      : line_(table, std::vector<const Tree*>{&tree}), steps_(tree, table, line_) {
    for (const Column& column : table.columns)
      columns_.push_back({column.kind, column.n_categories});
  }
  bool suits(const Columns& table) const {
    return std::equal(columns_.begin(), columns_.end(), table.columns.begin(), table.columns.end(),
                      [](const Held& held, const Column& column) {
                        return held.kind == column.kind && held.n_categories == column.n_categories;
                      });
  }
  const Line& line() const { return line_; }
  const StepTree& steps() const { return steps_; }

 private:
  struct Held {
    Kind kind;
    std::int32_t n_categories;
  };
  std::vector<Held> columns_;
  Line line_;
  StepTree steps_;
};

// A tree that rows walk, maybe many times and on several threads. Any tree is one, for one walk.
class WalkedTree {
 public:
  WalkedTree(const Tree& tree) : tree_(tree) {}  // NOLINT: meant to convert

  const Tree& tree() const { return tree_; }

  // None where the tree cannot be packed, or has not been and the rows are too few for it.
  std::shared_ptr<const PackedTree> packed_for(const Columns& table) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!packed_ || !packed_->suits(table)) {
      if (!StepTree::pays(tree_, table)) return nullptr;
      packed_ = std::make_shared<const PackedTree>(tree_, table);
    }
    return packed_->steps().is_packed() ? packed_ : nullptr;
  }

 private:
  const Tree& tree_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const PackedTree> packed_;
};

}  // namespace sureleaf
