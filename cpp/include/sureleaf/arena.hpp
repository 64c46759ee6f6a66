// Nodes while they are being grown, the children of a node side by side.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <vector>

#include "sureleaf/tree.hpp"

namespace sureleaf::detail {

// Beyond this a table of identifiers is being split into one branch a value, again and again.
inline constexpr std::size_t max_nodes = 20'000'000;
// Likewise for tests of categories, each of which has a table of all categories of its column.
inline constexpr std::size_t max_category_entries = std::size_t{1} << 27;

struct TooManyNodes : std::runtime_error {
  TooManyNodes() : std::runtime_error("too many nodes") {}
};

struct GrownNode {
  std::int32_t feature = -1;
  std::int32_t task = -1;  // grown further in an arena of its own
  double threshold = 0;
  std::uint32_t first_child = 0, n_children = 0;
  std::uint32_t first_category = 0, n_categories = 0;
};

struct Arena {
  explicit Arena(std::size_t classes) : n_classes(classes) {}

  std::size_t n_classes;
  std::vector<GrownNode> nodes;
  std::vector<double> class_weights;
  std::vector<double> shares;  // of the known weight of its parent, a node each
  std::vector<std::int32_t> category_branch;

  std::size_t add_nodes(std::size_t n) {
    if (nodes.size() + n > max_nodes) throw TooManyNodes();
    nodes.resize(nodes.size() + n);
    class_weights.resize(nodes.size() * n_classes, 0.0);
    shares.resize(nodes.size(), 1.0);
    return nodes.size() - n;
  }
  std::span<double> weights(std::size_t node) {
    return {class_weights.data() + node * n_classes, n_classes};
  }
  void adopt_root(Arena& other, std::size_t node) {
    add_nodes(1);
    const std::span<double> from = other.weights(node);
    std::copy(from.begin(), from.end(), class_weights.begin());
  }
};

// Puts the arenas together in preorder.
inline Tree flatten_arenas(Arena& top, std::deque<Arena>& tasks) {
  struct Place {
    Arena* arena;
    std::size_t node;
    std::int64_t slot;  // where its number is to be written among the children
  };
  Tree tree;
  tree.n_classes = top.n_classes;
  std::size_t n_nodes = top.nodes.size();
  for (const Arena& task : tasks) n_nodes += task.nodes.size() - 1;
  tree.feature.reserve(n_nodes);
  tree.threshold.reserve(n_nodes);
  tree.child_offset.reserve(n_nodes + 1);
  tree.category_offset.reserve(n_nodes + 1);
  tree.children.reserve(n_nodes - 1);
  tree.branch_share.reserve(n_nodes - 1);
  tree.class_weights.reserve(n_nodes * tree.n_classes);
  std::vector<Place> pending{{&top, 0, -1}};
  while (!pending.empty()) {
    Place place = pending.back();
    pending.pop_back();
    if (place.arena->nodes[place.node].task >= 0) {
      place.arena = &tasks[static_cast<std::size_t>(place.arena->nodes[place.node].task)];
      place.node = 0;
    }
    const GrownNode& node = place.arena->nodes[place.node];
    if (tree.size() == max_nodes) throw TooManyNodes();
    if (place.slot >= 0)
      tree.children[static_cast<std::size_t>(place.slot)] = static_cast<std::int32_t>(tree.size());
    const bool has_threshold = node.feature >= 0 && node.n_categories == 0;
    tree.feature.push_back(node.feature);
    tree.threshold.push_back(has_threshold ? node.threshold
                                           : std::numeric_limits<double>::quiet_NaN());
    tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
    tree.category_offset.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
    const std::span<double> weights = place.arena->weights(place.node);
    tree.class_weights.insert(tree.class_weights.end(), weights.begin(), weights.end());
    if (node.feature < 0) continue;
    for (std::size_t b = 0; b < node.n_children; ++b) {
      tree.children.push_back(0);
      tree.branch_share.push_back(place.arena->shares[node.first_child + b]);
    }
    for (std::size_t b = node.n_children; b-- > 0;)
      pending.push_back({place.arena, node.first_child + b,
                         tree.child_offset.back() + static_cast<std::int64_t>(b)});
    if (tree.category_branch.size() + node.n_categories > max_category_entries)
      throw TooManyNodes();
    for (std::size_t c = 0; c < node.n_categories; ++c)
      tree.category_branch.push_back(place.arena->category_branch[node.first_category + c]);
  }
  tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
  tree.category_offset.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
  return tree;
}

}  // namespace sureleaf::detail
