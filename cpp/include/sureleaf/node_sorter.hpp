// The order of a node's rows by one column, found when it is needed: for trees that look at a few
// columns per node, which would have to partition the lists of all columns at each split.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/presort.hpp"
#include "sureleaf/split.hpp"

namespace sureleaf::detail {

// The rows of a node by the values of a column, and those whose value is missing.
template <class Entry>
struct NodeList {
  std::span<const Entry> known, missing;

  std::size_t size() const { return known.size() + missing.size(); }
};

// Sorts the rows of a node; its memory is reused from node to node.
template <class Entry>
class NodeSorter {
 public:
  // The entries that are returned have a rank instead of a row. Equal ranks keep the order of rows.
  NodeList<Entry> sort(std::span<const Entry> rows, const Ranks& ranks, std::size_t j,
                       const Packing<Entry>& packing) {
    row_mask_ = packing.row_mask;
    if (words_.size() < rows.size()) {
      words_.resize(rows.size());
      sorted_.resize(rows.size());
    }
    const std::uint32_t* const of_column = ranks.table.data() + ranks.position[j];
    std::size_t n_known = 0, n_missing = 0;
    for (const Entry entry : rows) {
      const std::uint32_t rank = of_column[packing.row(entry) * ranks.n_per_row];
      words_[n_known] = (entry & ~row_mask_) | static_cast<Entry>(rank);
      sorted_[n_missing] = entry;
      n_known += rank != no_rank;
      n_missing += rank == no_rank;
    }
    missing_.assign(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(n_missing));
    sort_words(n_known, ranks.row_of_rank[j].size());
    return {{sorted_.data(), n_known}, missing_};
  }
  // The same for entries that have a rank already.
  std::span<const Entry> sort_words(std::span<const Entry> words, std::size_t n_ranks, Entry mask) {
    row_mask_ = mask;
    if (words_.size() < words.size()) {
      words_.resize(words.size());
      sorted_.resize(words.size());
    }
    std::copy(words.begin(), words.end(), words_.begin());
    sort_words(words.size(), n_ranks);
    return {sorted_.data(), words.size()};
  }

 private:
  void sort_words(std::size_t n, std::size_t n_ranks) {
    const auto n_bits = static_cast<unsigned>(std::bit_width(n_ranks));
    if (n <= few && n_bits + few_bits < 32)
      sort_few(n);
    else
      sort_many(n, n_bits);
    mark_increases(n);
  }

  static constexpr unsigned few_bits = 6, max_digit_bits = 11;
  static constexpr std::size_t few = std::size_t{1} << few_bits;

  std::uint32_t rank(Entry word) const { return static_cast<std::uint32_t>(word & row_mask_); }

  // The index of a row is the number of rows that come before it: no branch depends on the values.
  void sort_few(std::size_t n) {
    constexpr std::size_t lanes = 8;
    std::array<std::int32_t, few> keys;
    const std::size_t n_padded = (n + lanes - 1) / lanes * lanes;
    for (std::size_t i = 0; i < n; ++i)
      keys[i] = static_cast<std::int32_t>(rank(words_[i]) << few_bits | i);
    for (std::size_t i = n; i < n_padded; ++i) keys[i] = std::numeric_limits<std::int32_t>::max();
    for (std::size_t i = 0; i < n; ++i) {
      std::int32_t index = 0;
      for (std::size_t k = 0; k < n_padded; ++k) index += keys[k] < keys[i];
      sorted_[static_cast<std::size_t>(index)] = words_[i];
    }
  }

  // By the digits of the ranks, from the last to the first.
  void sort_many(std::size_t n, unsigned n_bits) {
    const auto most = std::min<unsigned>(max_digit_bits, static_cast<unsigned>(std::bit_width(n)));
    const unsigned n_digits = std::max(1u, (n_bits + most - 1) / most);
    const unsigned digit_bits = (n_bits + n_digits - 1) / n_digits;
    const std::size_t radix = std::size_t{1} << digit_bits;
    for (unsigned shift = 0; shift < n_digits * digit_bits; shift += digit_bits) {
      auto digit = [&](Entry word) { return (rank(word) >> shift) & (radix - 1); };
      std::fill_n(ends_.begin(), radix, 0u);
      for (std::size_t i = 0; i < n; ++i) ++ends_[digit(words_[i])];
      std::uint32_t begin = 0;
      for (std::size_t d = 0; d < radix; ++d) begin += std::exchange(ends_[d], begin);
      for (std::size_t i = 0; i < n; ++i) sorted_[ends_[digit(words_[i])]++] = words_[i];
      words_.swap(sorted_);
    }
    words_.swap(sorted_);
  }

  void mark_increases(std::size_t n) {
    for (std::size_t i = n; i-- > 1;)
      sorted_[i] |= (sorted_[i] ^ sorted_[i - 1]) & row_mask_ ? Packing<Entry>::increase : Entry{0};
  }

  Entry row_mask_ = 0;
  std::vector<Entry> words_, sorted_, missing_;
  std::array<std::uint32_t, std::size_t{1} << max_digit_bits> ends_{};
};

}  // namespace sureleaf::detail
