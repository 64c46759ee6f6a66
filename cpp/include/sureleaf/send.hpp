// Sending the rows of a node down the branches of its split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/arena.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class Sender {
 public:
  explicit Sender(const Growth<Entry>& growth) : growth_(growth) {}

  // Marks the branch of every row of the lists, and finds that of the rows of fractional weight;
  // adds up the class weights of the branches.
  void send(Work& work, std::size_t j, const Candidate& candidate, Arena& arena,
            Workspace<Entry>& space) const {
    Branches<Entry>& branches = space.branches;
    double* const sums = arena.weights(branches.first_child).data();
    const std::span<const Entry> listed = growth_.source_list(j, work);
    const Column& column = growth_.data.table[j];
    if (growth_.data.columns[j].is_ordered_list()) {
      send_list(listed, candidate.cut, growth_.n_known(j, work), sums, space);
      add_up(branches, sums);
      send_parts(work, sums, branches, [&](std::size_t row) -> std::uint32_t {
        const double value = column.value(row);
        return std::isnan(value) ? no_code : value > candidate.threshold;
      });
      return;
    }
    growth_.with_codes(j, [&](auto&& code_of) {
      auto branch_of = [&](std::size_t row) -> std::uint32_t {
        const std::uint32_t code = code_of(row);
        if (code == no_code) return no_code;
        if (column.has_thresholds()) return code > candidate.cut;
        return candidate.groups.empty() ? code : static_cast<std::uint32_t>(candidate.groups[code]);
      };
      send_codes(listed, branch_of, sums, space);
      add_up(branches, sums);
      send_parts(work, sums, branches, branch_of);
    });
  }

 private:
  void send_list(std::span<const Entry> listed, std::size_t cut, std::size_t known, double* sums,
                 Workspace<Entry>& space) const {
    Branches<Entry>& branches = space.branches;
    branches.n_rows[0] = cut;
    branches.n_rows[1] = known - cut;
    growth_.with_weights([&](auto&& weigh) {
      for (std::size_t i = 0; i < known; ++i)
        sums[(i < cut ? 0 : growth_.n_classes) + growth_.packing.cls(listed[i])] +=
            weigh(listed[i]);
    });
    branches.lost_rows.assign(listed.begin() + static_cast<std::ptrdiff_t>(known), listed.end());
    if (branches.go_by_bits()) {
      prepare_bits(space);
      for (std::size_t i = 0; i < known; ++i)
        set_bit(space, growth_.packing.row(listed[i]), i >= cut);
      return;
    }
    prepare_marks(space);
    for (std::size_t i = 0; i < listed.size(); ++i)
      space.branch_of[growth_.packing.row(listed[i])] = i < cut ? 0 : i < known ? 1 : no_code;
  }

  template <class BranchOf>
  void send_codes(std::span<const Entry> listed, BranchOf&& branch_of, double* sums,
                  Workspace<Entry>& space) const {
    Branches<Entry>& branches = space.branches;
    const bool by_bits = branches.n == 2;
    by_bits ? prepare_bits(space) : prepare_marks(space);
    growth_.with_weights([&](auto&& weigh) {
      for (const Entry entry : listed) {
        const std::size_t row = growth_.packing.row(entry);
        const std::uint32_t branch = branch_of(row);
        if (by_bits)
          set_bit(space, row, branch == 1);
        else
          space.branch_of[row] = branch;
        if (branch == no_code) {
          branches.lost_rows.push_back(entry);
          continue;
        }
        sums[branch * growth_.n_classes + growth_.packing.cls(entry)] += weigh(entry);
        ++branches.n_rows[branch];
      }
    });
    if (by_bits == branches.go_by_bits()) return;
    prepare_marks(space);
    for (const Entry entry : listed) {
      const std::size_t row = growth_.packing.row(entry);
      space.branch_of[row] = branch_of(row);
    }
  }

  void prepare_bits(Workspace<Entry>& space) const {
    if (space.goes_right.empty()) space.goes_right.resize(growth_.data.table.n_rows / 64 + 1);
  }
  void prepare_marks(Workspace<Entry>& space) const {
    if (space.branch_of.empty()) space.branch_of.resize(growth_.data.table.n_rows);
  }
  static void set_bit(Workspace<Entry>& space, std::size_t row, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (row & 63);
    std::uint64_t& word = space.goes_right[row >> 6];
    word = value ? word | bit : word & ~bit;
  }

  void add_up(Branches<Entry>& branches, const double* sums) const {
    for (std::size_t b = 0; b < branches.n; ++b, sums += growth_.n_classes)
      branches.share[b] = std::accumulate(sums, sums + growth_.n_classes, 0.0);
  }

  // Rows of fractional weight, and those that have just lost their way: these go everywhere, by
  // the share of each branch in the weight that is known.
  template <class BranchOf>
  void send_parts(Work& work, double* sums, Branches<Entry>& branches, BranchOf&& branch_of) const {
    take_parts(work, branches);
    const std::size_t n_classes = growth_.n_classes;
    branches.lost_weights.assign(n_classes, 0.0);
    branches.part_branch.resize(branches.parts.size());
    for (std::size_t i = 0; i < branches.parts.size(); ++i) {
      const SideRow& part = branches.parts[i];
      const std::uint32_t branch = branches.part_branch[i] = branch_of(part.row);
      if (branch == no_code) {
        branches.lost_weights[part.cls] += part.weight;
        ++branches.n_lost;
        continue;
      }
      ++branches.n_parts[branch];
      branches.share[branch] += part.weight;
      sums[branch * n_classes + part.cls] += part.weight;
    }
    const double known = std::accumulate(branches.share.begin(), branches.share.end(), 0.0);
    for (std::size_t b = 0; b < branches.n; ++b) {
      branches.share[b] /= known;
      for (std::size_t k = 0; k < n_classes; ++k)
        sums[b * n_classes + k] += branches.lost_weights[k] * branches.share[b];
    }
  }

  // The node's rows of fractional weight, those among them that were whole above. They are kept
  // in the order of the first list, so that it need not be found again.
  void take_parts(Work& work, Branches<Entry>& branches) const {
    branches.parts.swap(work.side);
    if (branches.lost_rows.empty()) return;
    const std::size_t n_before = branches.parts.size();
    for (const Entry entry : branches.lost_rows) {
      const std::size_t row = growth_.packing.row(entry);
      const RowWeights& weights = growth_.weights;
      const bool apart = weights.are_copies && weights.are_whole();
      const SideRow part{static_cast<std::uint32_t>(row),
                         static_cast<std::uint32_t>(growth_.packing.cls(entry)),
                         apart ? 1.0 : weights.weight(row)};
      branches.parts.insert(branches.parts.end(),
                            apart ? static_cast<std::size_t>(weights.count(row)) : 1, part);
    }
    for (const std::vector<std::uint32_t>& ranks : growth_.ranks) {
      if (ranks.empty()) continue;
      auto is_before = [&](const SideRow& a, const SideRow& b) {
        return ranks[a.row] < ranks[b.row];
      };
      const auto first_new = branches.parts.begin() + static_cast<std::ptrdiff_t>(n_before);
      std::stable_sort(first_new, branches.parts.end(), is_before);
      std::inplace_merge(branches.parts.begin(), first_new, branches.parts.end(), is_before);
      return;
    }
  }

  const Growth<Entry>& growth_;
};

}  // namespace sureleaf::detail
