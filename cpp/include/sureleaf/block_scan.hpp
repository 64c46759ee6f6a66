// The best threshold of a sorted list, without a look at most of its rows.
//
// The classes of a block of rows are only counted. With two classes, the gain of a threshold is a
// convex function of the two class counts on its left, so inside a block it is at most the gain in
// one of four cases: before the block, after it, and if all rows of the one or the other class came
// first. Only blocks in which one of these comes close to the best gain so far are looked at row by
// row. For gini of more classes there is another bound, see GiniBlockScan.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

// The same for gini of more classes and rows that count once.
//
// With n rows, class shares p, and l_k of the n_l rows on the left of class k, the gain is
// n / (n_l n_r) |d|^2, where d_k = l_k - n_l p_k. Along a block with m_k of its m rows of class k,
// d departs from the straight line between the d of its two ends by at most m_k (m - m_k) / m in
// class k. So |d| is at most the larger one of the ends plus the length of the vector of these; and
// n_l n_r is at least the smaller one of the ends.
template <class Entry>
class GiniBlockScan {
 public:
  // Class counts of a block are bytes of a word.
  static constexpr std::size_t max_classes = 8;

  // Whether blocks are faster than a look at all rows.
  static bool pays(std::size_t n_rows, std::size_t n_classes) {
    return n_rows >= 4 * least_block && n_classes <= max_classes;
  }

  // Offers the thresholds of the list to `scan`, from the first to the last. Those with a gain
  // below `floor` may be left out; returns whether some were.
  bool find(std::span<const Entry> list, const Packing<Entry>& packing,
            std::span<const std::int64_t> totals, double min_side, double floor,
            GiniListScan<Entry>& scan) {
    const auto n = static_cast<double>(list.size());
    const std::size_t block = block_size(list.size());
    // Bounds and gains are rounded differently.
    const double margin = 1e-9 * n;
    double limit = std::max(floor, bound_blocks(list, packing, totals, min_side, block)) - margin;
    std::array<std::int64_t, max_classes> left{};
    bool is_pruned = false, is_here = true;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].bound < limit) {
        is_pruned = true;
        is_here = false;
      } else {
        if (!is_here) scan.start_at(std::span(left).first(totals.size()));
        is_here = true;
        scan.scan(b * block, std::min((b + 1) * block, list.size()));
        if (scan.is_found()) limit = std::max(limit, scan.gain() - margin);
      }
      for (std::size_t k = 0; k < totals.size(); ++k) left[k] += count(blocks_[b].counts, k);
    }
    return is_pruned;
  }

 private:
  static constexpr std::size_t least_block = 32, largest_block = 240;
  static constexpr unsigned count_bits = 8;

  struct Block {
    std::uint64_t counts;
    double bound;  // of the gain of all thresholds in it and at its ends
  };

  // As above, but a byte must hold the count of a class.
  static std::size_t block_size(std::size_t n) {
    const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    return std::clamp(root / 16 * 16, least_block, largest_block);
  }
  static std::int64_t count(std::uint64_t counts, std::size_t k) {
    return static_cast<std::int64_t>((counts >> (count_bits * k)) & 0xFF);
  }

  // Counts the blocks and returns the largest gain of the thresholds between them.
  double bound_blocks(std::span<const Entry> list, const Packing<Entry>& packing,
                      std::span<const std::int64_t> totals, double min_side, std::size_t block) {
    const Packing<Entry> local = packing;
    const auto n = static_cast<double>(list.size());
    std::array<double, max_classes> share{}, d{};
    for (std::size_t k = 0; k < totals.size(); ++k) share[k] = static_cast<double>(totals[k]) / n;
    blocks_.clear();
    double best = -std::numeric_limits<double>::infinity(), length_before = 0;
    for (std::size_t begin = 0; begin < list.size(); begin += block) {
      const std::size_t end = std::min(begin + block, list.size());
      std::uint64_t counts = 0;
      for (const Entry entry : list.subspan(begin, end - begin))
        counts += std::uint64_t{1} << (count_bits * local.cls(entry));
      const auto m = static_cast<double>(end - begin);
      double length = 0, departure = 0;
      for (std::size_t k = 0; k < max_classes; ++k) {
        const auto m_k = static_cast<double>(count(counts, k));
        d[k] += m_k - m * share[k];
        length += d[k] * d[k];
        departure += m_k * (m - m_k) * (m_k * (m - m_k));
      }
      const auto before = static_cast<double>(begin), after = static_cast<double>(end);
      const double largest = std::sqrt(std::max(length, length_before)) + std::sqrt(departure) / m;
      const double product = std::min(before * (n - before), after * (n - after));
      // Near the ends of the list: |d|^2 is at most 2 n_l^2, and 2 n_r^2.
      const double at_end = 2 * n * std::min(after / (n - after), (n - before) / before);
      blocks_.push_back({counts, std::min(n * largest * largest / product, at_end)});
      if (end < list.size() && (list[end] & Packing<Entry>::increase) && after >= min_side &&
          n - after >= min_side)
        best = std::max(best, n * length / (after * (n - after)));
      length_before = length;
    }
    return best;
  }

  std::vector<Block> blocks_;
};

}  // namespace sureleaf::detail
