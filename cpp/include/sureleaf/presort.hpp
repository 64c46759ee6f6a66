// What growing needs of each column, computed once and shared by all trees that are grown on the
// table: the order of the rows if values are many, small codes if they are few.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/sort_rows.hpp"
#include "sureleaf/thread_pool.hpp"

namespace sureleaf {

inline constexpr std::size_t max_rows = std::size_t{1} << 31;
inline constexpr std::size_t max_small_codes = 255;

struct PresortedColumn {
  // Many values: rows by value, rows with a missing value last; increase_bit marks a row whose
  // value is above that of the row before.
  std::vector<std::uint32_t> order;
  std::size_t n_known = 0;
  // Few values or few categories: one code per row, stored together with those of other such
  // columns: as flag number `flag` of the row if there are two codes, no missing values and at
  // least least_flags such columns, else as code number `small` of the row.
  std::int32_t flag = -1;
  std::int32_t small = -1;
  bool has_missing = true;
  // The value of each code, ascending (columns with thresholds and small codes only).
  std::vector<double> values;
  bool may_lack_codes = false;  // there may be codes that no row has
  bool are_ranges = false;      // a code is a range of values, whose upper end is its value
  // All different values are further apart than c45_gap.
  bool gaps_are_wide = true;
  // Codes are read from the table itself: a categorical column with many categories.
  bool codes_in_table = false;

  bool is_ordered_list() const { return flag < 0 && small < 0 && !codes_in_table; }
};

inline constexpr std::uint32_t no_rank = 0xFFFFFFFFu;  // of a missing value

// The rank of each row's value, in the columns of many values; equal values share a rank. Those of
// a row are adjacent, so that the columns that are drawn for a node cost a cache line or two.
struct Ranks {
  std::size_t n_per_row = 0;
  std::vector<std::uint32_t> table;
  std::vector<std::size_t> position;                    // of each column in a row
  std::vector<std::vector<std::uint32_t>> row_of_rank;  // per column: a row with this value
};

struct Presorted {
  Columns table;
  std::vector<PresortedColumn> columns;
  // The flags of a row are adjacent, so that all are counted by a few vector additions.
  std::vector<std::uint8_t> flags;
  std::size_t n_flags = 0;  // per row, padding included
  // The other small codes of a row are adjacent, so that a row costs one cache line.
  std::span<const std::uint8_t> small_codes;
  std::vector<std::uint8_t> owned_codes;  // empty if the table itself is coded
  std::vector<std::size_t> small_columns;
  // Made when the first tree needs them; trees may grow at the same time.
  struct LazyRanks {
    std::mutex mutex;
    Ranks ranks;
  };
  std::unique_ptr<LazyRanks> lazy_ranks = std::make_unique<LazyRanks>();
  static constexpr std::size_t flag_padding = 16;
  static constexpr std::size_t least_flags = 4;

  // The number of codes; it is also the code of a missing value.
  std::size_t n_codes(std::size_t j) const {
    return table[j].has_thresholds() ? columns[j].values.size()
                                     : static_cast<std::size_t>(table[j].n_categories);
  }
  const Ranks& ranks(ThreadPool& pool, InterruptFlag& interrupt) const;
  const std::uint8_t* flags_of(std::size_t row) const { return flags.data() + row * n_flags; }
  // The codes of a column of few values: the first row's, and the distance to the next row's.
  std::pair<const std::uint8_t*, std::size_t> small_codes_of(std::size_t j) const {
    if (columns[j].flag >= 0) return {flags.data() + columns[j].flag, n_flags};
    return {small_codes.data() + columns[j].small, small_columns.size()};
  }
};

namespace detail {

// In a table stored by rows, one cache line holds this many columns, which are read together.
inline constexpr std::size_t line_columns = 8;
// The code of a missing value while the number of codes is not known.
inline constexpr std::uint8_t small_missing = 255;

// Finds the distinct values of a column if they are few. Open addressing in a table that stays in
// the first-level cache; a continuous column is dropped after about 300 rows.
class FewValues {
 public:
  FewValues() {
    slots_.fill(empty);
    keys_.reserve(max_small_codes);
  }
  // The provisional code of a value, or -1 if there are too many values.
  int code_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
    if (bits == last_bits_) return last_code_;
    std::size_t slot = (bits * 0x9E3779B97F4A7C15ull) >> 54;
    for (;;) {
      const std::int16_t code = slots_[slot];
      if (code == empty) break;
      if (keys_[static_cast<std::size_t>(code)] == bits) {
        last_bits_ = bits;
        return last_code_ = code;
      }
      slot = (slot + 1) & 1023;
    }
    if (keys_.size() == max_small_codes) return -1;
    slots_[slot] = static_cast<std::int16_t>(keys_.size());
    keys_.push_back(bits);
    last_bits_ = bits;
    return last_code_ = static_cast<int>(keys_.size() - 1);
  }
  // Writes the provisional codes of rows into `codes`, if there are at most two values so far and
  // these rows have no others.
  template <class Value>
  bool code_two(const Value& value, std::size_t begin, std::size_t end, std::uint8_t* codes) const {
    if (keys_.empty() || keys_.size() > 2) return false;
    const std::uint64_t first = keys_.front(), second = keys_.back();
    bool are_all = true;
    for (std::size_t row = begin; row < end; ++row) {
      const auto bits = std::bit_cast<std::uint64_t>(value(row) + 0.0);
      codes[row] = static_cast<std::uint8_t>(bits != first);
      are_all &= (bits == first) | (bits == second);
    }
    return are_all;
  }
  std::vector<double> values() const {
    std::vector<double> result;
    result.reserve(keys_.size());
    for (const std::uint64_t bits : keys_) result.push_back(std::bit_cast<double>(bits));
    return result;
  }

 private:
  static constexpr std::int16_t empty = -1;
  std::array<std::int16_t, 1024> slots_{};
  std::vector<std::uint64_t> keys_;
  std::uint64_t last_bits_ = std::bit_cast<std::uint64_t>(std::nan(""));
  int last_code_ = -1;
};

// Encodes a column of few values, one block of rows at a time.
class FewValuesColumn {
 public:
  void add(const Column& column, std::size_t n_rows, std::size_t begin, std::size_t end) {
    if (!is_few_) return;
    codes_.reserve(n_rows);  // grown step by step, they would be copied
    codes_.resize(end);
    column.with_values([&](auto&& value) {
      if (few_.code_two(value, begin, end, codes_.data())) return;
      for (std::size_t row = begin; row < end; ++row) {
        const double x = value(row);
        const int code = std::isnan(x) ? small_missing : few_.code_of(x);
        if (code < 0) {
          is_few_ = false;
          codes_ = {};
          return;
        }
        codes_[row] = static_cast<std::uint8_t>(code);
      }
    });
  }
  bool is_few() const { return is_few_; }
  // The codes in the order of their values; the values are stored in `out`.
  std::vector<std::uint8_t> finish(PresortedColumn& out);

 private:
  FewValues few_;
  std::vector<std::uint8_t> codes_;
  bool is_few_ = true;
};

inline std::vector<std::uint8_t> FewValuesColumn::finish(PresortedColumn& out) {
  const std::vector<double> distinct = few_.values();
  std::vector<std::uint8_t> by_value(distinct.size());
  for (std::size_t i = 0; i < distinct.size(); ++i) by_value[i] = static_cast<std::uint8_t>(i);
  std::sort(by_value.begin(), by_value.end(),
            [&](auto a, auto b) { return distinct[a] < distinct[b]; });
  std::array<std::uint8_t, 256> rank{};
  rank[small_missing] = small_missing;
  for (std::size_t i = 0; i < by_value.size(); ++i) {
    rank[by_value[i]] = static_cast<std::uint8_t>(i);
    out.values.push_back(distinct[by_value[i]]);
    if (i > 0 && !(out.values[i - 1] + c45_gap < out.values[i])) out.gaps_are_wide = false;
  }
  if (!std::ranges::is_sorted(by_value))
    for (std::uint8_t& code : codes_) code = rank[code];
  return std::move(codes_);
}

inline std::vector<std::uint8_t> encode_small_categories(const Column& column, std::size_t n_rows) {
  std::vector<std::uint8_t> codes(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::int32_t code = column.code(row);
    codes[row] = code < 0 ? small_missing : static_cast<std::uint8_t>(code);
  }
  return codes;
}

// Puts the small codes of the columns side by side, `width` per row, and frees the columns.
inline std::vector<std::uint8_t> interleave(std::vector<std::vector<std::uint8_t>>& codes,
                                            const std::vector<std::size_t>& columns,
                                            std::size_t width, std::size_t n_rows, ThreadPool& pool,
                                            InterruptFlag& interrupt) {
  std::vector<std::uint8_t> result(n_rows * width);
  constexpr std::size_t block = 4096;
  pool.run((n_rows + block - 1) / block, interrupt, [&](std::size_t i, std::size_t) {
    const std::size_t end = std::min(n_rows, (i + 1) * block);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::uint8_t* from = codes[columns[c]].data();
      std::uint8_t* to = result.data() + c;
      for (std::size_t row = i * block; row < end; ++row) to[row * width] = from[row];
    }
  });
  for (const std::size_t j : columns) codes[j] = {};
  return result;
}

inline void gather_small_codes(Presorted& presorted, std::vector<std::vector<std::uint8_t>>& codes,
                               ThreadPool& pool, InterruptFlag& interrupt) {
  std::vector<std::size_t> flagged;
  std::vector<std::uint8_t> highest(codes.size(), 0);
  for (std::size_t j = 0; j < codes.size(); ++j)
    if (!codes[j].empty()) highest[j] = *std::max_element(codes[j].begin(), codes[j].end());
  // Adding a vector of flags costs the same for one flag as for many.
  const bool makes_flags =
      static_cast<std::size_t>(std::ranges::count(highest, 1)) >= Presorted::least_flags;
  for (std::size_t j = 0; j < codes.size(); ++j) {
    if (codes[j].empty()) continue;
    PresortedColumn& column = presorted.columns[j];
    column.has_missing = highest[j] == small_missing;
    if (column.has_missing) {
      const auto missing = static_cast<std::uint8_t>(presorted.n_codes(j));
      for (std::uint8_t& code : codes[j]) code = code == small_missing ? missing : code;
    }
    if (makes_flags && highest[j] == 1) {
      column.flag = static_cast<std::int32_t>(flagged.size());
      flagged.push_back(j);
    } else {
      column.small = static_cast<std::int32_t>(presorted.small_columns.size());
      presorted.small_columns.push_back(j);
    }
  }
  const std::size_t n_rows = presorted.table.n_rows;
  if (makes_flags) {
    constexpr std::size_t padding = Presorted::flag_padding;
    presorted.n_flags = (flagged.size() + padding - 1) / padding * padding;
    presorted.flags = interleave(codes, flagged, presorted.n_flags, n_rows, pool, interrupt);
  }
  presorted.owned_codes = interleave(codes, presorted.small_columns, presorted.small_columns.size(),
                                     n_rows, pool, interrupt);
  presorted.small_codes = presorted.owned_codes;
}

// Finds the columns of few values or few categories and returns their codes; `many` gets the
// columns that are to be sorted.
inline std::vector<std::vector<std::uint8_t>> find_small_codes(
    const Columns& table, std::vector<PresortedColumn>& columns, std::vector<std::size_t>& many,
    ThreadPool& pool, InterruptFlag& interrupt) {
  std::vector<std::vector<std::uint8_t>> codes(table.size());
  std::vector<std::uint8_t> is_many(table.size(), 0);
  const std::size_t width = table.is_by_rows() ? line_columns : 1;
  constexpr std::size_t block = 256;  // whose cache lines fit the first-level cache
  pool.run((table.size() + width - 1) / width, interrupt, [&](std::size_t i, std::size_t) {
    const std::size_t first = i * width;
    const std::size_t n = std::min(width, table.size() - first);
    std::vector<FewValuesColumn> few(n);
    for (std::size_t begin = 0; begin < table.n_rows; begin += block)
      for (std::size_t c = 0; c < n; ++c)
        if (table[first + c].has_thresholds())
          few[c].add(table[first + c], table.n_rows, begin, std::min(table.n_rows, begin + block));
    for (std::size_t c = 0; c < n; ++c) {
      const Column& column = table[first + c];
      if (column.kind == Kind::categorical) {
        if (static_cast<std::size_t>(column.n_categories) <= max_small_codes)
          codes[first + c] = encode_small_categories(column, table.n_rows);
        else
          columns[first + c].codes_in_table = true;
      } else if (few[c].is_few()) {
        codes[first + c] = few[c].finish(columns[first + c]);
      } else {
        is_many[first + c] = 1;
      }
      interrupt.check();
    }
  });
  for (std::size_t j = 0; j < table.size(); ++j)
    if (is_many[j]) many.push_back(j);
  return codes;
}

// Sorts columns. Cells that are not adjacent float64 numbers are copied first, some columns at a
// time.
inline void sort_columns(const Columns& table, const std::vector<std::size_t>& many,
                         std::vector<PresortedColumn>& columns, ThreadPool& pool,
                         InterruptFlag& interrupt) {
  constexpr std::size_t block = 512;
  // At least one per thread, but no more than a cache line has, or than take two bytes per cell.
  const std::size_t n_each = std::min(table.size() / 4, line_columns) / pool.size();
  const std::size_t width = pool.size() * std::max<std::size_t>(n_each, 1);
  std::vector<RowSorter> sorters(pool.size());
  std::vector<std::vector<double>> values(width);
  for (std::size_t first = 0; first < many.size(); first += width) {
    const std::size_t n = std::min(width, many.size() - first);
    for (std::size_t c = 0; c < n; ++c)
      if (!table[many[first + c]].is_dense()) values[c].resize(table.n_rows);
    pool.run((table.n_rows + block - 1) / block, interrupt, [&](std::size_t i, std::size_t) {
      const std::size_t end = std::min(table.n_rows, (i + 1) * block);
      for (std::size_t c = 0; c < n; ++c) {
        const Column& column = table[many[first + c]];
        if (column.is_dense()) continue;
        column.with_values([&](auto&& value) {
          for (std::size_t row = i * block; row < end; ++row) values[c][row] = value(row);
        });
      }
    });
    pool.run(n, interrupt, [&](std::size_t c, std::size_t thread) {
      const Column& column = table[many[first + c]];
      const double* numbers = column.is_dense() ? column.numbers() : values[c].data();
      RowOrder order = sorters[thread].sort({numbers, table.n_rows}, interrupt);
      PresortedColumn& out = columns[many[first + c]];
      out.order = std::move(order.rows);
      out.n_known = order.n_known;
      out.gaps_are_wide = order.gaps_are_wide;
    });
  }
}

inline Ranks make_ranks(const Presorted& data, ThreadPool& pool, InterruptFlag& interrupt) {
  Ranks ranks;
  const std::size_t p = data.table.size();
  ranks.position.resize(p);
  ranks.row_of_rank.resize(p);
  for (std::size_t j = 0; j < p; ++j)
    if (data.columns[j].is_ordered_list()) ranks.position[j] = ranks.n_per_row++;
  ranks.table.assign(data.table.n_rows * ranks.n_per_row, no_rank);
  pool.run(p, interrupt, [&](std::size_t j, std::size_t) {
    const PresortedColumn& column = data.columns[j];
    if (!column.is_ordered_list()) return;
    std::vector<std::uint32_t>& row_of_rank = ranks.row_of_rank[j];
    for (std::size_t i = 0; i < column.n_known; ++i) {
      const std::uint32_t row = column.order[i] & ~increase_bit;
      if (i == 0 || (column.order[i] & increase_bit)) row_of_rank.push_back(row);
      ranks.table[row * ranks.n_per_row + ranks.position[j]] =
          static_cast<std::uint32_t>(row_of_rank.size() - 1);
    }
  });
  return ranks;
}

}  // namespace detail

inline const Ranks& Presorted::ranks(ThreadPool& pool, InterruptFlag& interrupt) const {
  const std::lock_guard<std::mutex> lock(lazy_ranks->mutex);
  if (lazy_ranks->ranks.position.empty())
    lazy_ranks->ranks = detail::make_ranks(*this, pool, interrupt);
  return lazy_ranks->ranks;
}

// A coded table needs no copy, and sorting only where an order has more than 255 categories.
inline Presorted presort_coded(Columns table, ThreadPool& pool, InterruptFlag& interrupt) {
  Presorted result;
  result.columns.resize(table.size());
  std::vector<std::size_t> many;
  for (std::size_t j = 0; j < table.size(); ++j) {
    PresortedColumn& column = result.columns[j];
    const Column& source = table[j];
    column.has_missing = table.has_missing[j];
    if (source.cell_type != CellType::uint8) {
      column.codes_in_table = source.kind == Kind::categorical;
      if (!column.codes_in_table) many.push_back(j);
      continue;
    }
    column.may_lack_codes = true;
    column.small = static_cast<std::int32_t>(result.small_columns.size());
    result.small_columns.push_back(j);
    column.are_ranges = source.are_ranges;
    if (source.kind == Kind::numeric)
      column.values.assign(source.value_of_code, source.value_of_code + source.n_codes);
    for (std::int32_t code = 0; source.kind == Kind::ordered && code < source.n_categories; ++code)
      column.values.push_back(code);
    for (std::size_t i = 1; i < column.values.size(); ++i)
      if (!(column.values[i - 1] + c45_gap < column.values[i])) column.gaps_are_wide = false;
  }
  detail::sort_columns(table, many, result.columns, pool, interrupt);
  result.small_codes = {table.coded_rows, table.n_rows * result.small_columns.size()};
  result.table = std::move(table);
  return result;
}

inline Presorted presort(Columns table, std::size_t n_threads, InterruptFlag& interrupt) {
  if (table.n_rows >= max_rows) throw std::length_error("more than 2**31 rows");
  ThreadPool pool(n_threads);
  if (table.coded_rows != nullptr) return presort_coded(std::move(table), pool, interrupt);
  Presorted result;
  result.columns.resize(table.size());
  std::vector<std::size_t> many;
  std::vector<std::vector<std::uint8_t>> codes =
      detail::find_small_codes(table, result.columns, many, pool, interrupt);
  detail::sort_columns(table, many, result.columns, pool, interrupt);
  result.table = std::move(table);
  detail::gather_small_codes(result, codes, pool, interrupt);
  return result;
}

}  // namespace sureleaf
