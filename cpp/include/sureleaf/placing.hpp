// Which branches the rows of a node take, where parts of rows are rows of less weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/columns.hpp"
#include "sureleaf/route.hpp"
#include "sureleaf/tree.hpp"

namespace sureleaf::detail {

struct WeightedRow {
  std::uint32_t row, label;
  double weight;

  WeightedRow part(double share) const { return {row, label, weight * share}; }
};
using Rows = std::vector<WeightedRow>;

inline void append(Rows& rows, std::span<const WeightedRow> further) {
  rows.insert(rows.end(), further.begin(), further.end());
}

// The places of a node's rows: their branches, or the number of branches where a value is missing.
class Placing {
 public:
  Placing(const Tree& tree, const Columns& table) : tree_(tree), table_(table) {}

  void start(std::size_t node, std::size_t n_branches) {
    node_ = node;
    places_.clear();
    counts_.assign(n_branches + 1, 0);
  }
  void add(std::span<const WeightedRow> rows) {
    const Column column = table_[static_cast<std::size_t>(tree_.feature[node_])];
    if (column.kind == Kind::numeric) {
      const double threshold = tree_.threshold[node_];
      put(rows, [=](std::size_t row) {  // sums, since what is to come cannot be guessed
        const double x = column.number(row);
        return static_cast<std::uint32_t>(x > threshold) + 2 * static_cast<std::uint32_t>(x != x);
      });
    } else {
      const auto missing = static_cast<std::uint32_t>(counts_.size() - 1);
      with_branches(tree_, node_, table_, [&](auto&& branch_of_row) {
        put(rows, [&](std::size_t row) {
          const std::int32_t branch = branch_of_row(row);
          return branch < 0 ? missing : static_cast<std::uint32_t>(branch);
        });
      });
    }
  }
  std::size_t operator[](std::size_t i) const { return places_[i]; }
  std::size_t count(std::size_t place) const { return counts_[place]; }
  std::size_t n_lost() const { return counts_.back(); }

  // Shares of the branches by what they are known to get: `known` and these rows, all that were
  // added.
  void find_shares(std::span<const double> known, std::span<const WeightedRow> rows) {
    shares_.assign(known.begin(), known.end());
    shares_.push_back(0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) shares_[places_[i]] += rows[i].weight;
    shares_.pop_back();
    const double total = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    const double same = 1.0 / static_cast<double>(known.size());
    for (double& share : shares_) share = total > 0 ? share / total : same;
  }
  const std::vector<double>& shares() const { return shares_; }

 private:
  template <class Place>
  void put(std::span<const WeightedRow> rows, Place&& place_of_row) {
    const std::size_t first = places_.size();
    places_.resize(first + rows.size());
    std::uint32_t* const places = places_.data() + first;
    std::uint32_t* const counts = counts_.data();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      places[i] = place_of_row(rows[i].row);
      ++counts[places[i]];
    }
  }

  const Tree& tree_;
  const Columns& table_;
  std::size_t node_ = 0;
  std::vector<std::uint32_t> places_, counts_;
  std::vector<double> shares_;
};

}  // namespace sureleaf::detail
