// The best threshold of a sorted list for two classes, without a look at most of its rows.
//
// The classes of a block of rows are only counted. The gain of a threshold is a convex function of
// the two class counts on its left, so inside a block it is at most the gain in one of four cases:
// before the block, after it, and if all rows of the one or the other class came first. Only blocks
// in which one of these comes close to the best gain so far are looked at row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sureleaf/split.hpp"

namespace sureleaf::detail {

// The counts if all rows of one class in a block came before those of the other.
inline SideCounts first_class_before(SideCounts before, SideCounts after) {
  const auto n_first =
      static_cast<std::uint64_t>((after - before).all() - (after - before).second());
  return {before.packed + n_first};
}
inline SideCounts second_class_before(SideCounts before, SideCounts after) {
  const auto n_second = static_cast<std::uint64_t>((after - before).second());
  return {before.packed + SideCounts::of(n_second, 1).packed};
}

// Its memory is reused from list to list.
template <class Entry>
class BlockScan {
 public:
  // Offers the thresholds of the list to `best`, whose cut is the number of entries on its left.
  // Those with a gain below `floor` may be left out; returns whether some were.
  template <class Threshold, class Count>
  bool find(std::span<const Entry> list, const Packing<Entry>& packing, Count&& count, double floor,
            const TwoClassNode& node, Threshold& best) {
    const std::size_t n = list.size();
    const Packing<Entry> local = packing;
    // Offers the thresholds between the rows of a block.
    auto look_inside = [&](std::size_t begin, std::size_t end, SideCounts left,
                           Threshold& offered) {
      for (std::size_t i = begin; i + 1 < end; ++i) {
        left.add(SideCounts::of(static_cast<std::uint64_t>(count(list[i])), local.cls(list[i])));
        if (list[i + 1] & Packing<Entry>::increase) offered.offer(left, i + 1);
      }
    };
    if (n <= 2 * least_block) {
      look_inside(0, n, {}, best);
      return false;
    }
    const std::size_t block = block_size(n);
    left_.clear();
    SideCounts left;
    for (std::size_t begin = 0; begin < n; begin += block) {
      if (begin > 0 && (list[begin] & Packing<Entry>::increase)) best.offer(left, begin);
      left_.push_back(left);
      left.add(count_block(list.subspan(begin, std::min(block, n - begin)), local, count));
    }
    left_.push_back(left);
    double limit = std::max(floor, best.is_found() ? best.gain() : floor) - node.margin();
    Threshold inner(node);
    bool is_pruned = false, is_above = best.is_above(limit, left_[0]);
    for (std::size_t b = 0; b + 1 < left_.size(); ++b) {
      const SideCounts before = left_[b], after = left_[b + 1];
      const bool was_above = is_above;
      is_above = best.is_above(limit, after);
      if (!was_above && !is_above && !best.is_above(limit, first_class_before(before, after)) &&
          !best.is_above(limit, second_class_before(before, after))) {
        is_pruned = true;
        continue;
      }
      look_inside(b * block, std::min((b + 1) * block, n), before, inner);
      if (inner.is_found()) limit = std::max(limit, inner.gain() - node.margin());
    }
    best.offer(inner);
    return is_pruned;
  }

 private:
  static constexpr std::size_t least_block = 16;

  // About the square root of the number of rows: where a column tells nothing, class counts differ
  // by about this from what is expected, so the bounds of larger blocks would dismiss little.
  static std::size_t block_size(std::size_t n) {
    const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    return std::max(root / least_block, std::size_t{1}) * least_block;
  }

  template <class Count>
  static SideCounts count_block(std::span<const Entry> entries, const Packing<Entry>& packing,
                                Count&& count) {
    std::uint32_t all = 0, second = 0;
    auto add = [&](Entry entry) {
      const auto times = static_cast<std::uint32_t>(count(entry));
      all += times;
      second += times * static_cast<std::uint32_t>(packing.cls(entry));
    };
    // A fixed number of rows at a time, which the compiler turns into vectors.
    const std::size_t n_whole = entries.size() / least_block * least_block;
    for (std::size_t begin = 0; begin < n_whole; begin += least_block)
      for (std::size_t i = 0; i < least_block; ++i) add(entries[begin + i]);
    for (const Entry entry : entries.subspan(n_whole)) add(entry);
    return {all | static_cast<std::uint64_t>(second) << 32};
  }

  std::vector<SideCounts> left_;  // before each block, and after the last one
};

}  // namespace sureleaf::detail
