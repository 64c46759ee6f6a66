// Nodes while they are grown (the children of a node are adjacent), and the queue from which
// threads take them.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sureleaf/growth.hpp"
#include "sureleaf/thread_pool.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf::detail {

// More nodes than this mean that a table of identifiers is being split into one branch per value.
inline constexpr std::size_t max_nodes = 20'000'000;
// The same for tests of categories: each holds the branches of all categories of its column.
inline constexpr std::size_t max_category_entries = std::size_t{1} << 27;

struct TooManyNodes : std::runtime_error {
  TooManyNodes() : std::runtime_error("too many nodes") {}
};

struct GrownNode {
  std::int32_t feature = -1;
  std::int32_t missing_branch = -1;
  std::int32_t sub_arena = -1;  // the arena in which it is grown further
  double threshold = 0;
  std::uint32_t first_child = 0, n_children = 0;
  std::uint32_t first_category = 0, n_categories = 0;
};

struct Arena {
  explicit Arena(std::size_t classes) : n_classes(classes) {}

  std::size_t n_classes;
  std::vector<GrownNode> nodes;
  std::vector<double> class_weights;
  std::vector<double> shares;  // per node: its share of the known weight of its parent
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

// Joins the arenas in preorder.
inline Tree flatten_arenas(Arena& top, std::deque<Arena>& sub_arenas) {
  struct Place {
    Arena* arena;
    std::size_t node;
    std::int64_t slot;  // where its number is to be written among the children
  };
  Tree tree;
  tree.n_classes = top.n_classes;
  std::size_t n_nodes = top.nodes.size();
  for (const Arena& sub_arena : sub_arenas) n_nodes += sub_arena.nodes.size() - 1;
  tree.feature.reserve(n_nodes);
  tree.threshold.reserve(n_nodes);
  tree.missing_branch.reserve(n_nodes);
  tree.child_offset.reserve(n_nodes + 1);
  tree.category_offset.reserve(n_nodes + 1);
  tree.children.reserve(n_nodes - 1);
  tree.branch_share.reserve(n_nodes - 1);
  tree.class_weights.reserve(n_nodes * tree.n_classes);
  std::vector<Place> pending{{&top, 0, -1}};
  while (!pending.empty()) {
    Place position = pending.back();
    pending.pop_back();
    if (position.arena->nodes[position.node].sub_arena >= 0) {
      position.arena =
          &sub_arenas[static_cast<std::size_t>(position.arena->nodes[position.node].sub_arena)];
      position.node = 0;
    }
    const GrownNode& node = position.arena->nodes[position.node];
    if (tree.size() == max_nodes) throw TooManyNodes();
    if (position.slot >= 0)
      tree.children[static_cast<std::size_t>(position.slot)] =
          static_cast<std::int32_t>(tree.size());
    const bool has_threshold = node.feature >= 0 && node.n_categories == 0;
    tree.feature.push_back(node.feature);
    tree.threshold.push_back(has_threshold ? node.threshold
                                           : std::numeric_limits<double>::quiet_NaN());
    tree.missing_branch.push_back(node.missing_branch);
    tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
    tree.category_offset.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
    const std::span<double> weights = position.arena->weights(position.node);
    tree.class_weights.insert(tree.class_weights.end(), weights.begin(), weights.end());
    if (node.feature < 0) continue;
    for (std::size_t b = 0; b < node.n_children; ++b) {
      tree.children.push_back(0);
      tree.branch_share.push_back(position.arena->shares[node.first_child + b]);
    }
    for (std::size_t b = node.n_children; b-- > 0;)
      pending.push_back({position.arena, node.first_child + b,
                         tree.child_offset.back() + static_cast<std::int64_t>(b)});
    if (tree.category_branch.size() + node.n_categories > max_category_entries)
      throw TooManyNodes();
    for (std::size_t c = 0; c < node.n_categories; ++c)
      tree.category_branch.push_back(position.arena->category_branch[node.first_category + c]);
  }
  tree.child_offset.push_back(static_cast<std::int64_t>(tree.children.size()));
  tree.category_offset.push_back(static_cast<std::int64_t>(tree.category_branch.size()));
  return tree;
}

}  // namespace sureleaf::detail

namespace sureleaf::detail {

// A node, and the arena in which its parent was split.
struct QueuedNode {
  NodeTask task;
  Arena* arena;
};

// Shared by threads: each takes the largest node and may add the nodes it was split into. Every
// node that is taken gets an arena of its own, so that no thread writes into another's arena.
class NodeQueue {
 public:
  explicit NodeQueue(InterruptFlag& interrupt) : interrupt_(interrupt) {}

  void add(std::vector<NodeTask> nodes, Arena& arena) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (NodeTask& task : nodes) {
      n_rows_ += task.n;
      nodes_.push_back({std::move(task), &arena});
      std::push_heap(nodes_.begin(), nodes_.end(), is_smaller);
    }
    changed_.notify_all();
  }
  bool is_empty() const { return nodes_.empty(); }
  std::size_t n_rows() const { return n_rows_; }
  std::size_t largest() const { return nodes_.front().task.n; }
  NodeTask take_largest() { return take().task; }

  // Calls grow(task, arena) for one node after the other until the queue is empty and no node is
  // being grown.
  template <class Grow>
  void run(Grow&& grow) {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      while (nodes_.empty() && n_growing_ > 0) {
        changed_.wait_for(lock, std::chrono::milliseconds(1));
        interrupt_.check();
      }
      if (nodes_.empty()) return;
      QueuedNode next = take();
      next.arena->nodes[next.task.node].sub_arena = static_cast<std::int32_t>(arenas_.size());
      Arena& arena = arenas_.emplace_back(next.arena->n_classes);
      ++n_growing_;
      lock.unlock();
      arena.adopt_root(*next.arena, next.task.node);
      next.task.node = 0;
      grow(next.task, arena);
      lock.lock();
      --n_growing_;
      changed_.notify_all();
    }
  }
  std::deque<Arena>& arenas() { return arenas_; }

 private:
  static bool is_smaller(const QueuedNode& a, const QueuedNode& b) { return a.task.n < b.task.n; }

  QueuedNode take() {
    std::pop_heap(nodes_.begin(), nodes_.end(), is_smaller);
    QueuedNode node = std::move(nodes_.back());
    nodes_.pop_back();
    n_rows_ -= node.task.n;
    return node;
  }

  InterruptFlag& interrupt_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<QueuedNode> nodes_;  // a heap
  std::size_t n_rows_ = 0, n_growing_ = 0;
  std::deque<Arena> arenas_;
};

}  // namespace sureleaf::detail
