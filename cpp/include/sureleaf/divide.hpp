// Making a split: every row of the node to its branch, every list divided.
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
#include "sureleaf/threads.hpp"
#include "sureleaf/threshold.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class Divider {
 public:
  Divider(Growth<Entry>& growth, std::vector<Workspace<Entry>>& workspaces, Patience& patience)
      : growth_(growth), workspaces_(workspaces), patience_(patience) {}

  void make_split(Work& work, std::size_t j, Candidate& candidate, Arena& arena,
                  Workspace<Entry>& space, std::size_t n_threads, std::vector<Work>& pending) {
    if (growth_.needs_gap(j)) settle_threshold(j, candidate);
    Branches branches;
    branches.n = candidate.groups.empty() && !growth_.data.table[j].has_thresholds()
                     ? growth_.n_codes(j)
                     : 2;
    branches.first_child = arena.add_nodes(branches.n);
    branches.known_weight.assign(branches.n, 0.0);
    branches.n_rows.assign(branches.n, 0);
    branches.side.resize(branches.n);
    send_rows(work, j, candidate, arena, space, branches);
    record(work, j, candidate, arena, branches);
    std::vector<Work> children = make_children(work, arena, branches);
    if (children.empty()) return;
    // The chosen column's list already stands in the order of its branches.
    std::vector<std::vector<std::size_t>> known(growth_.gap_columns.size());
    if (n_threads == 1) {
      for (std::size_t c = 0; c < growth_.lists.size(); ++c)
        divide_list(c, j, work, branches, space, space, known);
    } else {
      run_jobs(growth_.lists.size(), n_threads, patience_, [&](std::size_t c, std::size_t thread) {
        divide_list(c, j, work, branches, space, workspaces_[thread], known);
      });
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      for (std::size_t g = 0; g < growth_.gap_columns.size(); ++g)
        child->n_known.push_back(known[g][child->node - branches.first_child]);
      pending.push_back(std::move(*child));
    }
  }

 private:
  struct Branches {
    std::size_t n = 0;
    std::size_t first_child = 0;
    std::vector<double> known_weight;
    std::vector<std::size_t> n_rows;         // of the lists, a branch each
    std::vector<Entry> lost_rows;            // rows of the lists without a value
    std::vector<std::vector<SideRow>> side;  // a branch each
  };

  // Where values are too close for C4.5 to tell apart, its threshold depends on the order of rows.
  // It is kept from falling below the cut and from parting values that differ by noise.
  void settle_threshold(std::size_t j, Candidate& candidate) const {
    const double middle = midpoint(candidate.low, candidate.high);
    double threshold = candidate.low;
    std::vector<PlacedValue> nearby;
    walk_down(j, middle + c45_slack, [&](std::uint32_t row, double value) {
      if (!(value - middle < c45_slack)) return true;
      return add_nearby(nearby, row, value);
    });
    if (!nearby.empty()) threshold = std::max(threshold, threshold_in_row_order(nearby));
    double highest = threshold;
    walk_down(j, threshold + c45_noise, [&](std::uint32_t, double value) {
      if (value > threshold && !(value - threshold < c45_noise)) return true;
      highest = std::max(highest, value);
      return false;
    });
    candidate.low = highest;
    candidate.threshold_is_settled = true;
  }

  // Calls visit(first row, value) for the different values of the whole training set up to
  // `from`, the largest first, until it says false.
  template <class Visit>
  void walk_down(std::size_t j, double from, Visit&& visit) const {
    const PresortedColumn& column = growth_.data.columns[j];
    if (!column.is_ordered_list()) {
      const std::vector<std::uint32_t>& first_row = growth_.first_rows[j];
      for (std::size_t code = column.values.size(); code-- > 0;)
        if (first_row[code] != no_code && column.values[code] <= from &&
            !visit(first_row[code], column.values[code]))
          return;
      return;
    }
    const auto value_of = [&](std::uint32_t item) {
      return growth_.data.table[j].value(item & ~increase_bit);
    };
    const auto begin = column.order.begin();
    auto end = std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(column.n_known),
                                    [&](std::uint32_t item) { return value_of(item) <= from; });
    while (end != begin) {
      const double value = value_of(*(end - 1));
      const auto first = std::partition_point(
          begin, end, [&](std::uint32_t item) { return value_of(item) < value; });
      const auto present = std::find_if(
          first, end, [&](std::uint32_t item) { return growth_.takes_part(item & ~increase_bit); });
      if (present != end && !visit(*present & ~increase_bit, value)) return;
      end = first;
    }
  }

  bool divides_by_bits(const Branches& branches) const {
    return branches.n == 2 && branches.lost_rows.empty();
  }

  // Tells every row of the node its branch, and counts its class there.
  void send_rows(Work& work, std::size_t j, const Candidate& candidate, Arena& arena,
                 Workspace<Entry>& space, Branches& branches) {
    auto count = [&](Entry entry, std::size_t branch) {
      const double w = growth_.weights.are_whole()
                           ? static_cast<double>(growth_.count_of(entry))
                           : growth_.weights.weight(growth_.packing.row(entry));
      arena.weights(branches.first_child + branch)[growth_.packing.cls(entry)] += w;
      branches.known_weight[branch] += w;
      ++branches.n_rows[branch];
    };
    const Column& column = growth_.data.table[j];
    auto branch_of_code = [&](std::uint32_t code) -> std::uint32_t {
      if (column.has_thresholds()) return code > candidate.cut;
      return candidate.groups.empty() ? code : static_cast<std::uint32_t>(candidate.groups[code]);
    };
    const std::span<const Entry> listed = growth_.source_list(j, work);
    if (growth_.data.columns[j].is_ordered_list()) {
      const std::size_t known = growth_.n_known(j, work);
      for (std::size_t i = 0; i < candidate.cut; ++i) count(listed[i], 0);
      for (std::size_t i = candidate.cut; i < known; ++i) count(listed[i], 1);
      branches.lost_rows.assign(listed.begin() + static_cast<std::ptrdiff_t>(known), listed.end());
      mark_list(listed, candidate.cut, known, space, branches);
    } else {
      growth_.with_codes(j, [&](auto&& code_of) {
        for (const Entry entry : listed) {
          const std::uint32_t code = code_of(growth_.packing.row(entry));
          if (code == no_code)
            branches.lost_rows.push_back(entry);
          else
            count(entry, branch_of_code(code));
        }
        mark_codes(listed, code_of, branch_of_code, space, branches);
      });
    }
    send_side_rows(work, j, candidate, branch_of_code, arena, branches);
  }

  void mark_list(std::span<const Entry> listed, std::size_t cut, std::size_t known,
                 Workspace<Entry>& space, const Branches& branches) {
    if (divides_by_bits(branches)) {
      prepare_bits(space);
      for (std::size_t i = 0; i < cut; ++i) set_bit(space, growth_.packing.row(listed[i]), false);
      for (std::size_t i = cut; i < known; ++i)
        set_bit(space, growth_.packing.row(listed[i]), true);
      return;
    }
    prepare_branches(space);
    for (std::size_t i = 0; i < listed.size(); ++i)
      space.branch_of[growth_.packing.row(listed[i])] = i < cut ? 0 : i < known ? 1 : no_code;
  }

  template <class CodeOf, class BranchOf>
  void mark_codes(std::span<const Entry> listed, CodeOf&& code_of, BranchOf&& branch_of_code,
                  Workspace<Entry>& space, const Branches& branches) {
    if (divides_by_bits(branches)) {
      prepare_bits(space);
      for (const Entry entry : listed) {
        const std::size_t row = growth_.packing.row(entry);
        set_bit(space, row, branch_of_code(code_of(row)) == 1);
      }
      return;
    }
    prepare_branches(space);
    for (const Entry entry : listed) {
      const std::size_t row = growth_.packing.row(entry);
      const std::uint32_t code = code_of(row);
      space.branch_of[row] = code == no_code ? no_code : branch_of_code(code);
    }
  }

  void prepare_bits(Workspace<Entry>& space) const {
    if (space.goes_right.empty()) space.goes_right.resize(growth_.data.table.n_rows / 64 + 1);
  }
  void prepare_branches(Workspace<Entry>& space) const {
    if (space.branch_of.empty()) space.branch_of.resize(growth_.data.table.n_rows);
  }
  static void set_bit(Workspace<Entry>& space, std::size_t row, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (row & 63);
    std::uint64_t& word = space.goes_right[row >> 6];
    word = value ? word | bit : word & ~bit;
  }

  // Rows of fractional weight, and those that have just lost their way.
  template <class BranchOf>
  void send_side_rows(Work& work, std::size_t j, const Candidate& candidate,
                      BranchOf&& branch_of_code, Arena& arena, Branches& branches) {
    const Column& column = growth_.data.table[j];
    std::vector<SideRow> everywhere;
    for (const SideRow& side : work.side) {
      std::size_t branch = no_code;
      if (column.has_thresholds()) {
        const double value = column.value(side.row);
        if (!std::isnan(value)) branch = value > candidate.low;
      } else if (const std::int32_t code = column.code(side.row); code >= 0) {
        branch = branch_of_code(static_cast<std::uint32_t>(code));
      }
      if (branch == no_code) {
        everywhere.push_back(side);
        continue;
      }
      branches.known_weight[branch] += side.weight;
      arena.weights(branches.first_child + branch)[side.cls] += side.weight;
      branches.side[branch].push_back(side);
    }
    work.side.clear();
    for (const Entry entry : branches.lost_rows) {
      const std::size_t row = growth_.packing.row(entry);
      everywhere.push_back({static_cast<std::uint32_t>(row),
 static_cast<std::uint32_t>(growth_.packing.cls(entry)), growth_.weights.weight(row)});
    }
    const double known =
        std::accumulate(branches.known_weight.begin(), branches.known_weight.end(), 0.0);
    for (std::size_t b = 0; b < branches.n; ++b) {
      const double share = branches.known_weight[b] / known;
      if (!(share > 0)) continue;
      if (!everywhere.empty())
        branches.side[b].reserve(branches.side[b].size() + everywhere.size());
      for (const SideRow& side : everywhere) {
        branches.side[b].push_back({side.row, side.cls, side.weight * share});
        arena.weights(branches.first_child + b)[side.cls] += side.weight * share;
      }
    }
  }

  void record(const Work& work, std::size_t j, const Candidate& candidate, Arena& arena,
              const Branches& branches) const {
    GrownNode& node = arena.nodes[work.node];
    node.feature = static_cast<std::int32_t>(j);
    node.first_child = branches.first_child;
    node.n_children = branches.n;
    node.first_share = arena.shares.size();
    const double known =
        std::accumulate(branches.known_weight.begin(), branches.known_weight.end(), 0.0);
    for (const double w : branches.known_weight) arena.shares.push_back(w / known);
    if (growth_.data.table[j].has_thresholds()) {
      node.low = candidate.low;
      node.high = candidate.high;
      node.threshold_is_settled = candidate.threshold_is_settled;
      return;
    }
    node.first_category = arena.category_branch.size();
    node.n_categories = growth_.n_codes(j);
    if (node.first_category + node.n_categories > max_category_entries) throw TooManyNodes();
    for (std::size_t code = 0; code < growth_.n_codes(j); ++code)
      arena.category_branch.push_back(candidate.groups.empty() ? static_cast<std::int32_t>(code)
                                                               : candidate.groups[code]);
  }

  // The branches that are to be split further; none if all are leaves.
  std::vector<Work> make_children(const Work& work, Arena& arena, Branches& branches) const {
    std::vector<Work> children;
    std::size_t begin = work.begin;
    for (std::size_t b = 0; b < branches.n; ++b) {
      if (!growth_.is_leaf(arena.weights(branches.first_child + b), work.depth + 1)) {
        Work child;
        child.node = branches.first_child + b;
        child.begin = begin;
        child.n = branches.n_rows[b];
        child.depth = work.depth + 1;
        child.side = std::move(branches.side[b]);
        child.hopeless = work.hopeless;
        children.push_back(std::move(child));
      }
      begin += branches.n_rows[b];
    }
    return children;
  }

  // Divides the node's stretch of list c among the branches, keeping the order.
  void divide_list(std::size_t c, std::size_t split_column, const Work& work,
                   const Branches& branches, const Workspace<Entry>& marks, Workspace<Entry>& space,
                   std::vector<std::vector<std::size_t>>& known) {
    std::vector<Entry>& list = growth_.lists[c];
    if (list.empty()) return;
    std::vector<std::size_t>* known_here = nullptr;
    if (c < growth_.has_gaps.size() && growth_.has_gaps[c]) {
      const auto at = std::lower_bound(growth_.gap_columns.begin(), growth_.gap_columns.end(), c);
      known_here = &known[static_cast<std::size_t>(at - growth_.gap_columns.begin())];
    }
    if (c == split_column) {
      if (known_here) *known_here = branches.n_rows;
      return;
    }
    const std::size_t n_with_value =
        c < growth_.has_gaps.size() ? growth_.n_known(c, work) : work.n;
    Entry* stretch = list.data() + work.begin;
    if (space.scratch.size() < work.n) space.scratch.resize(work.n);
    if (divides_by_bits(branches))
      divide_in_two(stretch, work.n, n_with_value, marks.goes_right.data(), space, known_here);
    else
      divide_in_many(stretch, work.n, n_with_value, marks.branch_of.data(), branches, space,
                     known_here);
  }

  void divide_in_two(Entry* stretch, std::size_t n, std::size_t n_with_value,
                     const std::uint64_t* goes_right, Workspace<Entry>& space,
                     std::vector<std::size_t>* known) const {
    Entry* right_out = space.scratch.data();
    std::size_t n_left = 0, n_right = 0;
    // An entry passed over hands its mark of increase to the next one on the other side.
    Entry owed_left = 0, owed_right = 0;
    auto pass = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const Entry entry = stretch[i];
        const std::size_t row = growth_.packing.row(entry);
        const auto right = static_cast<Entry>((goes_right[row >> 6] >> (row & 63)) & 1);
        const Entry increase = entry & Packing<Entry>::increase;
        owed_left |= increase;
        owed_right |= increase;
        stretch[n_left] = (entry & ~Packing<Entry>::increase) | owed_left;
        right_out[n_right] = (entry & ~Packing<Entry>::increase) | owed_right;
        n_left += 1 - static_cast<std::size_t>(right);
        n_right += static_cast<std::size_t>(right);
        owed_left &= Entry{0} - right;
        owed_right &= right - Entry{1};
      }
    };
    pass(0, n_with_value);
    if (known) *known = {n_left, n_right};
    pass(n_with_value, n);
    std::copy(right_out, right_out + n_right, stretch + n_left);
  }

  void divide_in_many(Entry* stretch, std::size_t n, std::size_t n_with_value,
                      const std::uint32_t* branch_of, const Branches& branches,
                      Workspace<Entry>& space, std::vector<std::size_t>* known) const {
    std::vector<std::size_t> next(branches.n, 0);
    for (std::size_t b = 1; b < branches.n; ++b) next[b] = next[b - 1] + branches.n_rows[b - 1];
    const std::vector<std::size_t> start = next;
    // A branch's entry increases if the list has increased since that branch's last one.
    std::vector<std::size_t> last_step(branches.n, 0);
    std::size_t step = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (known && i == n_with_value) *known = differences(next, start);
      const Entry entry = stretch[i];
      if (entry & Packing<Entry>::increase) ++step;
      const std::uint32_t b = branch_of[growth_.packing.row(entry)];
      if (b == no_code) continue;
      space.scratch[next[b]++] = (entry & ~Packing<Entry>::increase) |
                                 (last_step[b] != step ? Packing<Entry>::increase : Entry{0});
      last_step[b] = step;
    }
    if (known && n_with_value == n) *known = differences(next, start);
    std::copy(space.scratch.begin(),
              space.scratch.begin() + static_cast<std::ptrdiff_t>(next.back()), stretch);
  }

  static std::vector<std::size_t> differences(const std::vector<std::size_t>& a,
                                              const std::vector<std::size_t>& b) {
    std::vector<std::size_t> result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
    return result;
  }

  Growth<Entry>& growth_;
  std::vector<Workspace<Entry>>& workspaces_;
  Patience& patience_;
};

}  // namespace sureleaf::detail
