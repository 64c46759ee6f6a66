// Random numbers that depend on a key and a counter only, so that threads do not change them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace sureleaf {

// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
inline std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// The key of a node: of the root by seed and tree, of a child by its parent and its branch.
inline std::uint64_t root_key(std::uint64_t seed, std::uint64_t tree) {
  return mix_bits(mix_bits(seed) ^ (tree + 1));
}
inline std::uint64_t child_key(std::uint64_t parent, std::size_t branch) {
  return mix_bits(parent ^ mix_bits(branch + 1));
}

// The columns of a table in random order, drawn one by one (Fisher and Yates).
class ColumnDraw {
 public:
  void start(std::uint64_t key, std::size_t n_columns) {
    key_ = key;
    n_drawn_ = 0;
    columns_.resize(n_columns);
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
  }
  bool is_over() const { return n_drawn_ == columns_.size(); }
  std::size_t next() {
    const std::uint64_t random = mix_bits(key_ + n_drawn_) >> 32;
    const std::uint64_t n_left = columns_.size() - n_drawn_;
    const auto chosen = n_drawn_ + static_cast<std::size_t>((random * n_left) >> 32);
    std::swap(columns_[n_drawn_], columns_[chosen]);
    return columns_[n_drawn_++];
  }

 private:
  std::uint64_t key_ = 0;
  std::size_t n_drawn_ = 0;
  std::vector<std::size_t> columns_;
};

}  // namespace sureleaf
