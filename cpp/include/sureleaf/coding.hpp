// Numbers of a batch of rows: their few values, a hash of every row, and their codes. And the
// fingerprints by which a model recognises rows that it was fitted on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/presort.hpp"
#include "sureleaf/thread_pool.hpp"

namespace sureleaf {

// The distinct values of a column, ascending; none if they are more than max_small_codes. Missing
// values are left out. `is_counted` is empty, or says which rows are looked at.
inline bool find_few_values(std::span<const double> column,
                            std::span<const std::uint8_t> is_counted, std::vector<double>& values) {
  detail::FewValues few;
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (std::isnan(column[row]) || (!is_counted.empty() && !is_counted[row])) continue;
    if (few.code_of(column[row]) < 0) return false;
  }
  values = few.values();
  std::ranges::sort(values);
  return true;
}

// Mixes the numbers of a column into the hashes of the rows. Equal numbers give equal hashes: minus
// zero is zero, and all missing values are the same.
inline void mix_hashes(std::span<const double> column, std::span<std::uint64_t> hashes) {
  constexpr std::uint64_t missing = 0x7FF8000000000000ull, factor = 0x9E3779B97F4A7C15ull;
  for (std::size_t row = 0; row < column.size(); ++row) {
    const double x = column[row];
    const std::uint64_t bits = std::isnan(x) ? missing : std::bit_cast<std::uint64_t>(x + 0.0);
    const std::uint64_t mixed = (hashes[row] ^ bits) * factor;
    hashes[row] = mixed ^ (mixed >> 32);
  }
}

inline void finish_hashes(std::span<std::uint64_t> hashes) {
  for (std::uint64_t& hash : hashes) {
    hash *= 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 29;
  }
}

// A number per row that its label and its cells determine. Model files keep such numbers, so they
// must not change.
class Fingerprints {
 public:
  Fingerprints(const Columns& columns, std::span<const std::int32_t> labels)
      : columns_(columns), labels_(labels), prints_(columns.n_rows) {}

  std::vector<std::uint64_t> make(std::size_t n_threads, InterruptFlag& interrupt) {
    constexpr std::size_t block = 1024;
    const bool by_rows = is_matrix_by_rows();
    run_jobs((columns_.n_rows + block - 1) / block, n_threads, interrupt,
             [&](std::size_t job, std::size_t) {
               const std::size_t begin = job * block;
               const std::size_t end = std::min(begin + block, columns_.n_rows);
               for (std::size_t row = begin; row < end; ++row)
                 mix(prints_[row] = start, static_cast<double>(labels_[row]));
               by_rows ? mix_by_rows(begin, end) : mix_by_columns(begin, end);
             });
    return std::move(prints_);
  }

 private:
  static constexpr std::uint64_t start = 0x9E3779B97F4A7C15ull, factor = 0xBF58476D1CE4E5B9ull;
  static constexpr std::uint64_t missing = 0x7FF8000000000000ull;

  static void mix(std::uint64_t& print, double x) {
    const std::uint64_t mixed = (print ^ comparable_bits(x)) * factor;
    print = mixed ^ (mixed >> 29);
  }

  // The bits of a whole number; of others those of 17 binary digits, so that numbers which were
  // written with six digits, or as float32, are mostly recognised.
  static std::uint64_t comparable_bits(double x) {
    constexpr double largest = 0x1p53;  // from here on all numbers are whole
    if (std::isnan(x)) return missing;
    if (std::abs(x) >= largest || static_cast<double>(static_cast<std::int64_t>(x)) == x)
      return std::bit_cast<std::uint64_t>(x + 0.0);
    constexpr std::uint32_t half = 1u << 6;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(x)) + half;
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(bits & ~(2 * half - 1))) + 0.0);
  }

  // Whether all cells are numbers of one type, row by row.
  bool is_matrix_by_rows() const {
    return columns_.is_by_rows() &&
           std::ranges::all_of(columns_.columns, [&](const Column& column) {
             return column.kind == Kind::numeric && !column.is_coded_number() &&
                    column.cell_type == columns_[0].cell_type;
           });
  }

  void mix_by_columns(std::size_t begin, std::size_t end) {
    for (const Column& column : columns_.columns) {
      const auto mix_cells = [&](auto cell_of) {
        for (std::size_t row = begin; row < end; ++row)
          mix(prints_[row], static_cast<double>(cell_of(row)));
      };
      if (column.kind != Kind::numeric)
        mix_cells([&](std::size_t row) { return column.code(row); });
      else if (column.is_coded_number())
        mix_cells([&](std::size_t row) { return column.number(row); });
      else
        with_cell_type(column.cell_type, [&](auto type) {
          mix_cells([&](std::size_t row) { return column.cell<decltype(type)>(row); });
        });
    }
  }

  // In the order of memory. Each step of a row waits for the one before, so several rows are mixed
  // at a time.
  void mix_by_rows(std::size_t begin, std::size_t end) {
    constexpr std::size_t n_lanes = 4;
    with_cell_type(columns_[0].cell_type, [&](auto type) {
      for (std::size_t row = begin; row < end; row += n_lanes) {
        const std::size_t n = std::min(n_lanes, end - row);
        std::array<std::uint64_t, n_lanes> prints{};
        std::copy_n(prints_.data() + row, n, prints.data());
        for (const Column& column : columns_.columns)
          for (std::size_t i = 0; i < n_lanes; ++i)
            mix(prints[i],
                static_cast<double>(column.cell<decltype(type)>(row + std::min(i, n - 1))));
        std::copy_n(prints.data(), n, prints_.data() + row);
      }
    });
  }

  const Columns& columns_;
  std::span<const std::int32_t> labels_;
  std::vector<std::uint64_t> prints_;
};

inline std::vector<std::uint64_t> row_fingerprints(const Columns& columns,
                                                   std::span<const std::int32_t> labels,
                                                   std::size_t n_threads,
                                                   InterruptFlag& interrupt) {
  return Fingerprints(columns, labels).make(n_threads, interrupt);
}

// The code of every number: the first value that is not below it, the last one if all are, and the
// number of values if it is missing. Codes are `step` bytes apart.
inline void code_numbers(std::span<const double> column, std::span<const double> values,
                         std::uint8_t* codes, std::size_t step) {
  const std::size_t n = values.size();
  // Padded to 256, so that a search has eight steps and no branch.
  std::array<double, 256> ends;
  ends.fill(std::numeric_limits<double>::infinity());
  std::ranges::copy(values, ends.begin());
  const auto last = static_cast<std::uint32_t>(n == 0 ? 0 : n - 1);
  // The steps of a search wait for each other, so several rows are searched at a time.
  constexpr std::size_t n_lanes = 8;
  for (std::size_t row = 0; row < column.size(); row += n_lanes) {
    const std::size_t n_rows = std::min(n_lanes, column.size() - row);
    std::array<double, n_lanes> x{};
    std::copy_n(column.begin() + static_cast<std::ptrdiff_t>(row), n_rows, x.begin());
    std::array<std::uint32_t, n_lanes> below{};
    for (std::uint32_t half = 128; half > 0; half /= 2)
      for (std::size_t i = 0; i < n_lanes; ++i)
        below[i] += ends[below[i] + half - 1] < x[i] ? half : 0;
    for (std::size_t i = 0; i < n_rows; ++i)
      codes[(row + i) * step] =
          static_cast<std::uint8_t>(std::isnan(x[i]) ? n : std::min(below[i], last));
  }
}

}  // namespace sureleaf
