// The best thresholds of several columns for two classes by Gini, without sorting the node's rows.
//
// The rows are counted in buckets of neighbouring ranks, all columns of a row at a time. Only
// buckets that can hold the best threshold are sorted, for the same reason as in block_scan.hpp.
// They are few, and the thresholds are those of a scan of all rows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sureleaf/block_scan.hpp"
#include "sureleaf/node_sorter.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf::detail {

// A column that is searched: where its ranks are, and how they are put in buckets.
struct BucketColumn {
  std::size_t column = 0;
  const std::uint32_t* ranks = nullptr;  // of the first row
  std::uint32_t low = 0, high = 0;       // all ranks of the node are between these two
  unsigned shift = 0;                    // ranks of a bucket are equal but for so many bits
  std::size_t first_bucket = 0, n_buckets = 0;
  SideCounts* buckets = nullptr;
  GiniThreshold best{TwoClassNode{}};
  bool is_pruned =
      false;  // some thresholds were not looked at, since other columns have better ones

  std::size_t bucket_of(std::uint32_t rank) const { return (rank >> shift) - first_bucket; }
  std::uint32_t last_rank(std::size_t bucket) const {
    return (static_cast<std::uint32_t>(first_bucket + bucket + 1) << shift) - 1;
  }
};

// Searches the columns of one node; its memory is reused from node to node.
template <class Entry>
class BucketSearch {
 public:
  std::vector<BucketColumn> columns;

  // Finds the best threshold of each column. Thresholds whose gain is below `floor`, or below that
  // of another column, need not be found.
  void find(std::span<const Entry> rows, std::size_t ranks_per_row, const Packing<Entry>& packing,
            const TwoClassNode& node, double floor, NodeSorter<Entry>& sorter) {
    make_buckets(rows.size());
    if (packing.holds_counts())
      count(rows, ranks_per_row, packing,
            [&](Entry entry) { return static_cast<std::uint32_t>(packing.count(entry)); });
    else
      count(rows, ranks_per_row, packing, [](Entry) { return std::uint32_t{1}; });
    for (BucketColumn& column : columns) {
      column.best = GiniThreshold(node);
      narrow(column);
      SideCounts left;
      for (std::size_t b = 0; b + 1 < column.n_buckets; ++b) {
        left.add(column.buckets[b]);
        column.best.offer(left, column.last_rank(b));
      }
      if (column.best.is_found()) floor = std::max(floor, column.best.gain());
    }
    for (BucketColumn& column : columns) {
      if (column.shift == 0) continue;
      refine(column, rows, ranks_per_row, packing, node, floor - node.margin(), sorter);
      if (column.best.is_found()) floor = std::max(floor, column.best.gain());
    }
  }

 private:
  // So many rows per bucket at least, and so many buckets at most.
  static constexpr std::size_t rows_per_bucket = 8, max_buckets = 1024;

  void make_buckets(std::size_t n_rows) {
    const std::size_t n_wanted = std::clamp<std::size_t>(n_rows / rows_per_bucket, 8, max_buckets);
    const auto wanted_bits = static_cast<unsigned>(std::bit_width(n_wanted));
    std::size_t n_all = 0;
    for (BucketColumn& column : columns) {
      const auto n_bits = static_cast<unsigned>(std::bit_width(column.high - column.low));
      column.shift = n_bits > wanted_bits ? n_bits - wanted_bits : 0;
      column.first_bucket = column.low >> column.shift;
      column.n_buckets = column.bucket_of(column.high) + 1;
      n_all += column.n_buckets;
    }
    buckets_.assign(n_all, SideCounts{});
    SideCounts* next = buckets_.data();
    for (BucketColumn& column : columns) {
      column.buckets = next;
      next += column.n_buckets;
    }
  }

  template <class Count>
  void count(std::span<const Entry> rows, std::size_t ranks_per_row, const Packing<Entry>& packing,
             Count&& count_of) {
    const BucketColumn *const begin = columns.data(), *const end = begin + columns.size();
    const Packing<Entry> local = packing;
    auto add_row = [&](Entry entry) {
      const std::size_t offset = local.row(entry) * ranks_per_row;
      const SideCounts one = SideCounts::of(count_of(entry), local.cls(entry));
      for (const BucketColumn* column = begin; column != end; ++column)
        column->buckets[column->bucket_of(column->ranks[offset])].add(one);
    };
    // The ranks of a row are far from those of the next one: they are fetched ahead.
    constexpr std::size_t n_ahead = 12;
    const std::uint32_t *const first = begin->ranks, *const last = (end - 1)->ranks;
    const std::size_t n_fetched = rows.size() - std::min(rows.size(), n_ahead);
    for (std::size_t i = 0; i < n_fetched; ++i) {
      const std::size_t offset = local.row(rows[i + n_ahead]) * ranks_per_row;
      __builtin_prefetch(first + offset);
      __builtin_prefetch(last + offset);
      add_row(rows[i]);
    }
    for (const Entry entry : rows.subspan(n_fetched)) add_row(entry);
  }

  // Leaves out empty buckets at both ends.
  static void narrow(BucketColumn& column) {
    std::size_t first = 0;
    while (column.buckets[first].packed == 0) ++first;
    while (column.buckets[column.n_buckets - 1].packed == 0) --column.n_buckets;
    column.high = std::min(column.high, column.last_rank(column.n_buckets - 1));
    column.first_bucket += first;
    column.low =
        std::max(column.low, static_cast<std::uint32_t>(column.first_bucket) << column.shift);
    column.buckets += first;
    column.n_buckets -= first;
  }

  // Looks for better thresholds inside the buckets.
  void refine(BucketColumn& column, std::span<const Entry> rows, std::size_t ranks_per_row,
              const Packing<Entry>& packing, const TwoClassNode& node, double limit,
              NodeSorter<Entry>& sorter) {
    SideCounts left;
    is_open_.resize(column.n_buckets);
    bool any = false, is_above = column.best.is_above(limit, left);
    for (std::size_t b = 0; b < column.n_buckets; ++b) {
      SideCounts after = left;
      after.add(column.buckets[b]);
      const bool was_above = is_above;
      is_above = column.best.is_above(limit, after);
      const bool open = was_above || is_above ||
                        column.best.is_above(limit, first_class_before(left, after)) ||
                        column.best.is_above(limit, second_class_before(left, after));
      is_open_[b] = open;
      any = any || open;
      column.is_pruned = column.is_pruned || !open;
      left = after;
    }
    if (!any) return;
    if (words_.size() < rows.size()) words_.resize(rows.size());
    std::size_t n = 0;
    for (const Entry entry : rows) {
      const std::uint32_t rank = column.ranks[packing.row(entry) * ranks_per_row];
      words_[n] = (entry & ~packing.row_mask) | static_cast<Entry>(rank);
      n += is_open_[column.bucket_of(rank)];
    }
    const std::span<const Entry> open =
        sorter.sort_words({words_.data(), n}, column.high + std::size_t{1}, packing.row_mask);
    GiniThreshold inner(node);
    left = {};
    std::size_t i = 0;
    for (std::size_t b = 0; b < column.n_buckets; ++b) {
      if (is_open_[b]) {
        SideCounts within = left;
        const std::uint32_t last = column.last_rank(b);
        for (const std::size_t first = i; i < n && packing.row(open[i]) <= last; ++i) {
          if (i > first && (open[i] & Packing<Entry>::increase))
            inner.offer(within, static_cast<std::uint32_t>(packing.row(open[i - 1])));
          within.add(SideCounts::of(packing.holds_counts() ? packing.count(open[i]) : 1,
                                    packing.cls(open[i])));
        }
      }
      left.add(column.buckets[b]);
    }
    column.best.offer(inner);
  }

  std::vector<SideCounts> buckets_;
  std::vector<std::uint8_t> is_open_;
  std::vector<Entry> words_;
};

}  // namespace sureleaf::detail
