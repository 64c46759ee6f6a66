// The order of rows by their numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/thread_pool.hpp"

namespace sureleaf {

inline constexpr std::uint32_t increase_bit = std::uint32_t{1} << 31;
// C4.5 sees two numbers as different only when they are further apart than this.
inline constexpr double c45_gap = 1e-5;

// Rows by value, those without one last; increase_bit marks a row whose value is above its
// predecessor's.
struct RowOrder {
  std::vector<std::uint32_t> rows;
  std::size_t n_known = 0;
  bool gaps_are_wide = true;  // all different values are further apart than c45_gap
};

namespace detail {

// Maps a double to an unsigned key of the same order; NaN must be dealt with before.
inline std::uint64_t sortable_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // + 0.0 turns -0.0 into 0.0
  const std::uint64_t flip = (bits >> 63) ? ~std::uint64_t{0} : (std::uint64_t{1} << 63);
  return bits ^ flip;
}

// Keys of `n_bits` bits that do not turn the order of some numbers round, though close numbers may
// share one. Places on the line from the least to the greatest number spread most columns evenly,
// so that few of a key's leading bits sort nearly all rows; else keys are made of a number's bits.
class Keys {
 public:
  Keys(std::span<const double> values, unsigned n_bits) {
    const auto [low, high] = range_of(values);
    low_ = low;
    int exponent = 0;
    std::frexp(high - low, &exponent);
    n_bits_ = std::min(n_bits, 52u);
    scale_ = std::ldexp(1.0, static_cast<int>(n_bits_) - exponent);
    unit_ = 1 / scale_;
    is_line_ = std::isnormal(high - low) && std::isnormal(scale_) && std::isnormal(unit_) &&
               is_spread(values);
    if (is_line_) return;
    unit_ = 0;
    first_bits_ = sortable_bits(low);
    const auto n_needed = static_cast<unsigned>(std::bit_width(sortable_bits(high) - first_bits_));
    n_bits_ = std::min(n_bits, n_needed);
    n_dropped_ = n_needed - n_bits_;
  }

  unsigned n_bits() const { return n_bits_; }
  // How many of the leading bits tell nearly all of n rows apart.
  unsigned n_telling(std::size_t n) const {
    return static_cast<unsigned>(std::bit_width(n)) + (is_line_ ? 4 : 12);
  }
  // Hands over two functions of a number: its key, and whether the key tells it exactly.
  template <class Use>
  void with_key(Use&& use) const {
    if (is_line_)
      use([this](double x) { return position(x); },
          [this](double x) { return low_ + static_cast<double>(position(x)) * unit_ == x; });
    else
      use([this](double x) { return (sortable_bits(x) - first_bits_) >> n_dropped_; },
          [this](double x) {
            const std::uint64_t bits = sortable_bits(x) - first_bits_;
            return (bits >> n_dropped_) << n_dropped_ == bits;
          });
  }
  // Whether numbers of these keys are surely further apart than c45_gap, whatever was rounded.
  bool are_surely_apart(std::uint64_t lower, std::uint64_t upper) const {
    return (static_cast<double>(upper - lower) - 2) * unit_ > 4 * c45_gap;
  }

 private:
  std::uint64_t position(double x) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>((x - low_) * scale_));
  }

  static std::pair<double, double> range_of(std::span<const double> values) {
    constexpr std::size_t n_lanes = 8;
    std::array<double, n_lanes> low, high;
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
    const std::size_t n_whole = values.size() / n_lanes * n_lanes;
    for (std::size_t i = 0; i < n_whole; i += n_lanes)
      for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        const double x = values[i + lane];  // NaN is neither less nor greater
        low[lane] = x < low[lane] ? x : low[lane];
        high[lane] = x > high[lane] ? x : high[lane];
      }
    for (const double x : values.subspan(n_whole)) {
      low[0] = x < low[0] ? x : low[0];
      high[0] = x > high[0] ? x : high[0];
    }
    return {*std::ranges::min_element(low), *std::ranges::max_element(high)};
  }

  // Whether the leading bits of positions tell the numbers of a sample apart.
  bool is_spread(std::span<const double> values) const {
    const std::size_t step = std::max<std::size_t>(32, values.size() / 1024);
    std::vector<double> sample;
    sample.reserve(values.size() / step + 1);
    for (std::size_t i = 0; i < values.size(); i += step)
      if (!std::isnan(values[i])) sample.push_back(values[i]);
    std::ranges::sort(sample);
    const unsigned n_told = n_telling(values.size());
    const unsigned n_rest = n_bits_ > n_told ? n_bits_ - n_told : 0;
    std::size_t n_shared = 0;
    for (std::size_t i = 1; i < sample.size(); ++i)
      n_shared += sample[i - 1] < sample[i] &&
                  position(sample[i - 1]) >> n_rest == position(sample[i]) >> n_rest;
    return n_shared <= sample.size() / 128;
  }

  bool is_line_ = true;
  unsigned n_bits_ = 0;
  double low_ = 0, scale_ = 0, unit_ = 0;  // of positions on a line
  std::uint64_t first_bits_ = 0;           // of bits
  unsigned n_dropped_ = 0;
};

// Sorts rows; its memory is reused from column to column.
class RowSorter {
 public:
  RowOrder sort(std::span<const double> values, InterruptFlag& interrupt) {
    const std::size_t n_rows = values.size();
    RowOrder out;
    out.rows.resize(n_rows);
    words_.resize(n_rows);
    other_words_.resize(n_rows);
    row_bits_ = static_cast<unsigned>(std::bit_width(std::max<std::size_t>(n_rows, 2) - 1));
    const Keys keys(values, 64 - row_bits_);
    make_words(values, keys, out);
    radix_sort(keys, n_rows, out.n_known, interrupt);
    for (std::size_t begin = 0; begin < out.n_known;) {
      std::size_t end = begin + 1;
      while (end < out.n_known && !((words_[begin] ^ words_[end]) >> n_unsorted_)) ++end;
      if (end - begin > 1) sort_stretch(values, begin, end);
      write(values, keys, begin, end, out);
      begin = end;
    }
    return out;
  }

 private:
  std::uint64_t key(std::uint64_t word) const { return word >> row_bits_; }
  std::size_t row(std::uint64_t word) const {
    return static_cast<std::size_t>(word & ((std::uint64_t{1} << row_bits_) - 1));
  }

  // A word a row that has a value: its key, then the row itself.
  void make_words(std::span<const double> values, const Keys& keys, RowOrder& out) {
    without_value_.clear();
    keys_are_exact_ = true;
    std::size_t n_known = 0;
    keys.with_key([&](auto&& key_of, auto&& is_exact) {
      for (std::size_t row = 0; row < values.size(); ++row) {
        const double x = values[row];
        if (std::isnan(x)) {
          without_value_.push_back(static_cast<std::uint32_t>(row));
          continue;
        }
        if (keys_are_exact_) keys_are_exact_ = is_exact(x);
        words_[n_known++] = key_of(x) << row_bits_ | row;
      }
    });
    out.n_known = n_known;
    std::ranges::copy(without_value_, out.rows.begin() + static_cast<std::ptrdiff_t>(n_known));
  }

  // By the leading bits of the keys, from the last of them to the first. A digit of eight bits
  // writes to as many places as the first-level cache has lines for.
  void radix_sort(const Keys& keys, std::size_t n_rows, std::size_t n, InterruptFlag& interrupt) {
    constexpr unsigned digit_bits = 8;
    constexpr std::size_t radix = std::size_t{1} << digit_bits;
    const unsigned n_digits =
        (std::min(keys.n_telling(n_rows), keys.n_bits()) + digit_bits - 1) / digit_bits;
    const unsigned n_top = row_bits_ + keys.n_bits();
    n_unsorted_ = n_top > n_digits * digit_bits ? n_top - n_digits * digit_bits : 0;
    std::vector<std::array<std::uint32_t, radix>> counts(n_digits);
    auto digit = [&](std::uint64_t word, unsigned pass) {
      return static_cast<std::size_t>(word >> (n_unsorted_ + pass * digit_bits)) & (radix - 1);
    };
    for (std::size_t i = 0; i < n; ++i)
      for (unsigned pass = 0; pass < n_digits; ++pass) ++counts[pass][digit(words_[i], pass)];
    for (unsigned pass = 0; pass < n_digits; ++pass) {
      interrupt.check();
      std::array<std::uint32_t, radix>& next = counts[pass];
      if (n > 0 && next[digit(words_[0], pass)] == n) continue;  // all have the same
      std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
      for (std::size_t i = 0; i < n; ++i) other_words_[next[digit(words_[i], pass)]++] = words_[i];
      words_.swap(other_words_);
    }
  }

  // Rows whose leading bits are the same: by the rest of them, and where different numbers share a
  // key, by the numbers.
  void sort_stretch(std::span<const double> values, std::size_t begin, std::size_t end) {
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = words_.begin() + static_cast<std::ptrdiff_t>(end);
    if (!std::is_sorted(first, last)) std::sort(first, last);
    if (keys_are_exact_) return;
    auto is_below = [&](std::uint64_t a, std::uint64_t b) {
      return values[row(a)] < values[row(b)] ||
             (values[row(a)] == values[row(b)] && row(a) < row(b));
    };
    for (auto from = first; from != last;) {
      const auto to =
          std::find_if(from + 1, last, [&](std::uint64_t word) { return key(word) != key(*from); });
      if (to - from > 1 && !std::is_sorted(from, to, is_below)) std::sort(from, to, is_below);
      from = to;
    }
  }

  void write(std::span<const double> values, const Keys& keys, std::size_t begin, std::size_t end,
             RowOrder& out) const {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t word = words_[i];
      bool increases = false;
      if (i > 0) {
        const std::uint64_t before = words_[i - 1];
        increases = key(before) != key(word) ||
                    (!keys_are_exact_ && values[row(before)] != values[row(word)]);
        if (increases && out.gaps_are_wide && !keys.are_surely_apart(key(before), key(word)))
          out.gaps_are_wide = values[row(before)] + c45_gap < values[row(word)];
      }
      out.rows[i] = static_cast<std::uint32_t>(row(word)) | (increases ? increase_bit : 0u);
    }
  }

  std::vector<std::uint64_t> words_, other_words_;
  std::vector<std::uint32_t> without_value_;
  unsigned row_bits_ = 0, n_unsorted_ = 0;
  bool keys_are_exact_ = true;
};

}  // namespace detail

}  // namespace sureleaf
