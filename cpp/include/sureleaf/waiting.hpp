// Nodes that wait for a thread, and the arenas that threads grow them in.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "sureleaf/arena.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/threads.hpp"

namespace sureleaf::detail {

// A node, and the arena in which its parent was split.
struct WaitingNode {
  Work work;
  Arena* arena;
};

// Shared by threads: each takes the largest node, and may add those it was split into. Every node
// that is taken gets an arena of its own, so that no thread writes into another's.
class Waiting {
 public:
  explicit Waiting(Patience& patience) : patience_(patience) {}

  void add(std::vector<Work> nodes, Arena& arena) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Work& work : nodes) {
      n_rows_ += work.n;
      nodes_.push_back({std::move(work), &arena});
      std::push_heap(nodes_.begin(), nodes_.end(), is_smaller);
    }
    changed_.notify_all();
  }
  bool is_empty() const { return nodes_.empty(); }
  std::size_t n_rows() const { return n_rows_; }
  std::size_t largest() const { return nodes_.front().work.n; }
  Work take_largest() { return take().work; }

  // Calls grow(work, arena) for one node after the other until none waits and none is being grown.
  template <class Grow>
  void work_off(Grow&& grow) {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      while (nodes_.empty() && n_growing_ > 0) {
        changed_.wait_for(lock, std::chrono::milliseconds(1));
        patience_.check();
      }
      if (nodes_.empty()) return;
      WaitingNode next = take();
      next.arena->nodes[next.work.node].task = static_cast<std::int32_t>(arenas_.size());
      Arena& arena = arenas_.emplace_back(next.arena->n_classes);
      ++n_growing_;
      lock.unlock();
      arena.adopt_root(*next.arena, next.work.node);
      next.work.node = 0;
      grow(next.work, arena);
      lock.lock();
      --n_growing_;
      changed_.notify_all();
    }
  }
  std::deque<Arena>& arenas() { return arenas_; }

 private:
  static bool is_smaller(const WaitingNode& a, const WaitingNode& b) { return a.work.n < b.work.n; }

  WaitingNode take() {
    std::pop_heap(nodes_.begin(), nodes_.end(), is_smaller);
    WaitingNode node = std::move(nodes_.back());
    nodes_.pop_back();
    n_rows_ -= node.work.n;
    return node;
  }

  Patience& patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<WaitingNode> nodes_;  // a heap
  std::size_t n_rows_ = 0, n_growing_ = 0;
  std::deque<Arena> arenas_;
};

}  // namespace sureleaf::detail
