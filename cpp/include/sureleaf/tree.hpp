// A finished tree as flat arrays, nodes in preorder.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sureleaf {

struct Tree {
  std::size_t n_classes = 0;
  std::vector<std::int32_t> feature;       // -1: a leaf
  std::vector<double> threshold;           // NaN unless the node tests <= threshold
  std::vector<std::int64_t> child_offset;  // the node's branches: child_offset[i] .. [i + 1]
  std::vector<std::int32_t> children;
  std::vector<double> branch_share;           // of the known weight; used where a value is missing
  std::vector<std::int64_t> category_offset;  // the node's categories, in the same way
  std::vector<std::int32_t> category_branch;  // -1: no such category in the node
  std::vector<std::int32_t> missing_branch;   // per node; -1: a missing value takes all branches
  std::vector<double> class_weights;          // n_nodes x n_classes

  std::size_t size() const { return feature.size(); }
  bool is_leaf(std::size_t node) const { return feature[node] < 0; }
  std::size_t n_branches(std::size_t node) const {
    return static_cast<std::size_t>(child_offset[node + 1] - child_offset[node]);
  }
  std::span<const std::int32_t> branches(std::size_t node) const {
    return {children.data() + child_offset[node], n_branches(node)};
  }
  std::span<const double> shares(std::size_t node) const {
    return {branch_share.data() + child_offset[node], n_branches(node)};
  }
  std::span<const std::int32_t> category_branches(std::size_t node) const {
    return {category_branch.data() + category_offset[node],
            static_cast<std::size_t>(category_offset[node + 1] - category_offset[node])};
  }
  std::span<const double> weights(std::size_t node) const {
    return {class_weights.data() + node * n_classes, n_classes};
  }
};

// A column that nodes of a tree test, and its number of categories; 0 for thresholds.
struct ColumnTest {
  std::int32_t feature = 0;
  std::size_t n_categories = 0;
  auto operator<=>(const ColumnTest&) const = default;
};

inline std::vector<ColumnTest> column_tests(const Tree& tree) {
  std::vector<ColumnTest> tests;
  for (std::size_t node = 0; node < tree.size(); ++node)
    if (!tree.is_leaf(node))
      tests.push_back({tree.feature[node], tree.category_branches(node).size()});
  std::ranges::sort(tests);
  tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
  return tests;
}

// What is wrong with the arrays of a tree that came from elsewhere; nullptr if nothing is.
inline const char* fault_in(const Tree& tree, std::size_t n_weight_lines, std::size_t n_columns) {
  const std::size_t n = tree.size();
  if (n == 0) return "a tree has at least one node";
  if (tree.n_classes == 0) return "a tree has at least one class";
  if (tree.threshold.size() != n || n_weight_lines != n || tree.missing_branch.size() != n)
    return "arrays differ in length";
  auto offsets_are_sound = [n](const std::vector<std::int64_t>& offset, std::size_t end) {
    if (offset.size() != n + 1 || offset.front() != 0) return false;
    for (std::size_t i = 0; i < n; ++i)
      if (offset[i + 1] < offset[i]) return false;
    return offset.back() == static_cast<std::int64_t>(end);
  };
  if (!offsets_are_sound(tree.child_offset, tree.children.size()) ||
      tree.branch_share.size() != tree.children.size())
    return "the branches are not in order";
  if (!offsets_are_sound(tree.category_offset, tree.category_branch.size()))
    return "the categories are not in order";
  std::vector<char> has_parent(n, 0);
  for (std::size_t node = 0; node < n; ++node) {
    const auto branches = tree.branches(node);
    if (tree.feature[node] >= static_cast<std::int32_t>(n_columns)) return "a test has no column";
    if (tree.is_leaf(node) != branches.empty()) return "only leaves have no branches";
    // A child comes after its parent, the first directly after it: no cycles, and preorder.
    for (std::size_t b = 0; b < branches.size(); ++b) {
      const std::int64_t child = branches[b];
      if (child <= static_cast<std::int64_t>(node) || child >= static_cast<std::int64_t>(n) ||
          has_parent[static_cast<std::size_t>(child)] ||
          (b == 0 && child != static_cast<std::int64_t>(node) + 1))
        return "nodes are not in preorder";
      has_parent[static_cast<std::size_t>(child)] = 1;
    }
    if (tree.missing_branch[node] < -1 ||
        tree.missing_branch[node] >= static_cast<std::int32_t>(branches.size()))
      return "missing values have no branch";
    const auto categories = tree.category_branches(node);
    if (!branches.empty() && categories.empty() && branches.size() != 2)
      return "a threshold has two branches";
    for (const std::int32_t branch : categories)
      if (branch < -1 || branch >= static_cast<std::int32_t>(branches.size()))
        return "a category has no branch";
  }
  for (std::size_t node = 1; node < n; ++node)
    if (!has_parent[node]) return "a node has no parent";
  return nullptr;
}

}  // namespace sureleaf
