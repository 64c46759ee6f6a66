// Columns of two values, in a table that lies in memory row by row, as flags. Cells are read in the
// order of memory: column by column, each cache line would be waited for several times.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/thread_pool.hpp"

namespace sureleaf {

// One byte per row and column: whether the value is the higher of the two. The flags of a row are
// adjacent.
struct TwoValuedColumns {
  static constexpr std::size_t padding = 16;

  struct Found {
    std::size_t column, flag;  // the flag's position in a row
    double low, high;
  };
  std::vector<Found> found;
  std::vector<std::uint8_t> flags;
  std::size_t width = 0;  // per row, padding included
};

namespace detail {

template <class Cell>
class TwoValuedCoder {
 public:
  TwoValuedCoder(const Columns& table, ThreadPool& pool, InterruptFlag& interrupt)
      : table_(table), pool_(pool), interrupt_(interrupt) {}

  TwoValuedColumns find(std::size_t least) {
    TwoValuedColumns result;
    choose_candidates();
    if (candidates_.size() < least) return result;
    find_runs();
    constexpr std::size_t padding = TwoValuedColumns::padding;
    result.width = (candidates_.size() + padding - 1) / padding * padding;
    result.flags.resize(table_.n_rows * result.width);
    std::vector<Coding> by_thread(pool_.size(), Coding(candidates_, table_));
    constexpr std::size_t job_rows = 64 * block;
    pool_.run((table_.n_rows + job_rows - 1) / job_rows, interrupt_,
              [&](std::size_t job, std::size_t thread) {
                const std::size_t end = std::min(table_.n_rows, (job + 1) * job_rows);
                for (std::size_t begin = job * job_rows; begin < end; begin += block)
                  code_block(begin, std::min(end, begin + block), by_thread[thread], result);
              });
    collect(by_thread, result);
    // Flags of columns with more values cost as much as others, but are never read.
    if (result.found.size() < std::max(least, candidates_.size() / 2)) return {};
    return result;
  }

 private:
  static constexpr std::size_t block = 64;  // rows
  using Bits = std::conditional_t<
      sizeof(Cell) == 8, std::uint64_t,
      std::conditional_t<sizeof(Cell) == 4, std::uint32_t,
                         std::conditional_t<sizeof(Cell) == 2, std::uint16_t, std::uint8_t>>>;

  // A column that has two values as far as is known. A value that was not met is NaN.
  struct Candidate {
    std::size_t column;
    double first = std::nan(""), second = std::nan("");
    std::size_t first_row = 0, second_row = 0;  // where they were met
    bool has_more = false;                      // values, or missing ones

    void meet(double x, std::size_t row) {
      if (x == first || x == second) return;
      if (std::isnan(x) || !std::isnan(second)) {
        has_more = true;
      } else if (std::isnan(first)) {
        first = x + 0.0;  // + 0.0 turns -0.0 into 0.0
        first_row = second_row = row;
      } else {
        second = x + 0.0;
        second_row = row;
      }
    }
  };

  // What one thread knows. Cells are compared by their bits, which needs no conversion.
  struct Coding {
    Coding(std::vector<Candidate> known, const Columns& table)
        : candidates(std::move(known)),
          first(candidates.size()),
          change(candidates.size()),
          others(candidates.size()) {
      for (std::size_t c = 0; c < candidates.size(); ++c) set_bits(c, table);
    }
    void set_bits(std::size_t c, const Columns& table) {
      const Column& column = table[candidates[c].column];
      first[c] = std::bit_cast<Bits>(column.cell<Cell>(candidates[c].first_row));
      const auto second = std::bit_cast<Bits>(column.cell<Cell>(candidates[c].second_row));
      change[c] = static_cast<Bits>(first[c] ^ second);
    }
    std::vector<Candidate> candidates;
    std::vector<Bits> first,
        change;                // bits of the first value, and those in which the second differs
    std::vector<Bits> others;  // not 0: a cell of the block has neither of these bits
  };

  // Candidates that are adjacent in memory.
  struct Run {
    const char* data;
    std::size_t first, n;
  };

  // Numbers of the same type; a sample of rows has at most two values.
  void choose_candidates() {
    const std::size_t step = std::max<std::size_t>(1, table_.n_rows / 1024);
    for (std::size_t j = 0; j < table_.size(); ++j) {
      const Column& column = table_[j];
      if (column.kind != Kind::numeric || column.is_coded_number() ||
          column.cell_type != table_[0].cell_type || column.stride != table_[0].stride)
        continue;
      Candidate candidate{.column = j};
      for (std::size_t row = 0; row < table_.n_rows && !candidate.has_more; row += step)
        candidate.meet(column.number(row), row);
      if (candidate.has_more) continue;
      // The flag is that of the higher value, unless a lower one is met later.
      if (candidate.second < candidate.first) {
        std::swap(candidate.first, candidate.second);
        std::swap(candidate.first_row, candidate.second_row);
      }
      candidates_.push_back(candidate);
    }
  }

  void find_runs() {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      const char* const data = table_[candidates_[c].column].data;
      if (!runs_.empty() && data == runs_.back().data + runs_.back().n * sizeof(Cell))
        ++runs_.back().n;
      else
        runs_.push_back({data, c, 1});
    }
  }

  void code_block(std::size_t begin, std::size_t end, Coding& coding,
                  TwoValuedColumns& result) const {
    std::ranges::fill(coding.others, Bits{0});
    for (std::size_t row = begin; row < end; ++row)
      for (const Run& run : runs_)
        code_cells(reinterpret_cast<const Cell*>(run.data + static_cast<std::ptrdiff_t>(row) *
                                                                table_[0].stride),
                   coding.first.data() + run.first, coding.change.data() + run.first, run.n,
                   coding.others.data() + run.first,
                   result.flags.data() + row * result.width + run.first);
    for (std::size_t c = 0; c < coding.others.size(); ++c)
      if (coding.others[c] != 0 && !coding.candidates[c].has_more)
        code_by_value(begin, end, c, coding, result);
  }

  static void code_cells(const Cell* cells, const Bits* first, const Bits* change, std::size_t n,
                         Bits* others, std::uint8_t* flags) {
    for (std::size_t c = 0; c < n; ++c) {
      const auto differs = static_cast<Bits>(std::bit_cast<Bits>(cells[c]) ^ first[c]);
      const auto expected = static_cast<Bits>(differs != 0 ? change[c] : Bits{0});
      flags[c] = differs != 0;
      others[c] = static_cast<Bits>(others[c] | (differs ^ expected));
    }
  }

  // A cell without the bits of either value may be a new value, or equal to one, as -0.0 is to 0.0.
  void code_by_value(std::size_t begin, std::size_t end, std::size_t c, Coding& coding,
                     TwoValuedColumns& result) const {
    Candidate& candidate = coding.candidates[c];
    table_[candidate.column].with_values([&](auto&& value) {
      for (std::size_t row = begin; row < end; ++row) {
        const double x = value(row);
        candidate.meet(x, row);
        result.flags[row * result.width + c] = x != candidate.first;
      }
    });
    coding.set_bits(c, table_);
  }

  // Joins what the threads met, and turns flags round whose first value is the higher one.
  void collect(const std::vector<Coding>& by_thread, TwoValuedColumns& result) {
    std::vector<std::uint8_t> is_turned(result.width, 0);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      Candidate& all = candidates_[c];
      for (const Coding& coding : by_thread) {
        const Candidate& met = coding.candidates[c];
        all.has_more = all.has_more || met.has_more;
        if (!std::isnan(met.second)) all.meet(met.second, met.second_row);
      }
      if (all.has_more || std::isnan(all.second)) continue;
      is_turned[c] = all.second < all.first;
      result.found.push_back(
          {all.column, c, std::min(all.first, all.second), std::max(all.first, all.second)});
    }
    if (std::ranges::count(is_turned, 1) == 0) return;
    constexpr std::size_t job_rows = 64 * block;
    pool_.run((table_.n_rows + job_rows - 1) / job_rows, interrupt_,
              [&](std::size_t job, std::size_t) {
                const std::size_t end = std::min(table_.n_rows, (job + 1) * job_rows);
                for (std::size_t row = job * job_rows; row < end; ++row)
                  for (std::size_t f = 0; f < result.width; ++f)
                    result.flags[row * result.width + f] ^= is_turned[f];
              });
  }

  const Columns& table_;
  ThreadPool& pool_;
  InterruptFlag& interrupt_;
  std::vector<Candidate> candidates_;
  std::vector<Run> runs_;
};

}  // namespace detail

// Finds the columns of two values without missing values, if they are at least `least` and the
// table lies in memory row by row. In a table of few rows, column by column is fast enough.
inline TwoValuedColumns find_two_valued(const Columns& table, std::size_t least, ThreadPool& pool,
                                        InterruptFlag& interrupt) {
  constexpr std::size_t least_rows = 256;
  if (!table.is_by_rows() || table.n_rows < least_rows) return {};
  return with_cell_type(table[0].cell_type, [&](auto cell) {
    return detail::TwoValuedCoder<decltype(cell)>(table, pool, interrupt).find(least);
  });
}

}  // namespace sureleaf
