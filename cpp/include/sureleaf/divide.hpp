// Making a split: its branches, and every list divided among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sureleaf/arena.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/send.hpp"
#include "sureleaf/split.hpp"
#include "sureleaf/threads.hpp"
#include "sureleaf/threshold.hpp"
#include "sureleaf/workspace.hpp"

namespace sureleaf::detail {

template <class Entry>
class Divider {
 public:
  Divider(Growth<Entry>& growth, std::vector<Workspace<Entry>>& workspaces, Patience& patience)
      : growth_(growth),
        sender_(growth),
        thresholds_(growth),
        workspaces_(workspaces),
        patience_(patience) {}

  void make_split(Work& work, std::size_t j, Candidate& candidate, Arena& arena,
                  Workspace<Entry>& space, Crew& crew, std::vector<Work>& pending) {
    if (growth_.data.table[j].has_thresholds()) candidate.threshold = thresholds_.of(candidate, j);
    Branches<Entry>& branches = space.branches;
    const std::size_t n = candidate.groups.empty() && !growth_.data.table[j].has_thresholds()
                              ? growth_.data.n_codes(j)
                              : 2;
    branches.start(n, arena.add_nodes(n));
    sender_.send(work, j, candidate, arena, space);
    record(work, j, candidate, arena, branches);
    const std::size_t n_before = pending.size();
    add_children(work, arena, branches, pending);
    if (pending.size() == n_before) return;
    // The chosen column's list already stands in the order of its branches.
    std::vector<std::vector<std::size_t>> known(growth_.gap_columns.size());
    if (crew.size() == 1) {
      for (std::size_t c = 0; c < growth_.lists.size(); ++c)
        divide_list(c, j, work, branches, space, space, known);
    } else {
      crew.run(growth_.lists.size(), patience_, [&](std::size_t c, std::size_t thread) {
        divide_list(c, j, work, branches, space, workspaces_[thread], known);
      });
    }
    for (std::size_t i = n_before; i < pending.size(); ++i)
      for (const std::vector<std::size_t>& by_branch : known)
        pending[i].n_known.push_back(by_branch[pending[i].node - branches.first_child]);
  }

 private:
  void record(const Work& work, std::size_t j, const Candidate& candidate, Arena& arena,
              const Branches<Entry>& branches) const {
    GrownNode& node = arena.nodes[work.node];
    node.feature = static_cast<std::int32_t>(j);
    node.first_child = static_cast<std::uint32_t>(branches.first_child);
    node.n_children = static_cast<std::uint32_t>(branches.n);
    std::copy(branches.share.begin(), branches.share.end(),
              arena.shares.begin() + node.first_child);
    if (growth_.data.table[j].has_thresholds()) {
      node.threshold = candidate.threshold;
      return;
    }
    const std::size_t n_codes = growth_.data.n_codes(j);
    if (arena.category_branch.size() + n_codes > max_category_entries) throw TooManyNodes();
    node.first_category = static_cast<std::uint32_t>(arena.category_branch.size());
    node.n_categories = static_cast<std::uint32_t>(n_codes);
    for (std::size_t code = 0; code < n_codes; ++code)
      arena.category_branch.push_back(candidate.groups.empty() ? static_cast<std::int32_t>(code)
                                                               : candidate.groups[code]);
  }

  // Adds the branches that are to be split further, the last one first.
  void add_children(const Work& work, Arena& arena, Branches<Entry>& branches,
                    std::vector<Work>& pending) const {
    const std::size_t n_before = pending.size();
    std::size_t begin = std::accumulate(branches.n_rows.begin(), branches.n_rows.end(), work.begin);
    branches.place.assign(branches.n, none);
    for (std::size_t b = branches.n; b-- > 0;) {
      begin -= branches.n_rows[b];
      if (growth_.is_leaf(arena.weights(branches.first_child + b), work.depth + 1)) continue;
      branches.place[b] = pending.size();
      Work& child = pending.emplace_back();
      child.node = branches.first_child + b;
      child.begin = begin;
      child.n = branches.n_rows[b];
      child.depth = work.depth + 1;
      child.hopeless = work.hopeless;
      child.side.reserve(branches.n_parts[b] + branches.n_lost);
    }
    for (std::size_t i = 0; i < branches.parts.size(); ++i) {
      const SideRow& part = branches.parts[i];
      if (const std::uint32_t branch = branches.part_branch[i]; branch != no_code) {
        if (branches.place[branch] != none) pending[branches.place[branch]].side.push_back(part);
        continue;
      }
      for (std::size_t at = n_before; at < pending.size(); ++at) {
        const double share = branches.share[pending[at].node - branches.first_child];
        if (share > 0) pending[at].side.push_back({part.row, part.cls, part.weight * share});
      }
    }
  }

  // Divides the node's stretch of list c among the branches, keeping the order.
  void divide_list(std::size_t c, std::size_t split_column, const Work& work,
                   const Branches<Entry>& branches, const Workspace<Entry>& marks,
                   Workspace<Entry>& space, std::vector<std::vector<std::size_t>>& known) {
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
    if (branches.go_by_bits())
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
                      const std::uint32_t* branch_of, const Branches<Entry>& branches,
                      Workspace<Entry>& space, std::vector<std::size_t>* known) const {
    std::vector<BranchEnd>& ends = space.branch_ends;
    ends.clear();
    std::size_t start = 0;
    for (const std::size_t n_rows : branches.n_rows) {
      ends.push_back({start, 0});
      start += n_rows;
    }
    std::size_t step = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (known && i == n_with_value) *known = rows_so_far(ends, branches);
      const Entry entry = stretch[i];
      if (entry & Packing<Entry>::increase) ++step;
      const std::uint32_t b = branch_of[growth_.packing.row(entry)];
      if (b == no_code) continue;
      BranchEnd& end = ends[b];
      space.scratch[end.next++] = (entry & ~Packing<Entry>::increase) |
                                  (end.last_step != step ? Packing<Entry>::increase : Entry{0});
      end.last_step = step;
    }
    if (known && n_with_value == n) *known = rows_so_far(ends, branches);
    std::copy(space.scratch.begin(), space.scratch.begin() + static_cast<std::ptrdiff_t>(start),
              stretch);
  }

  static std::vector<std::size_t> rows_so_far(const std::vector<BranchEnd>& ends,
                                              const Branches<Entry>& branches) {
    std::vector<std::size_t> result(ends.size());
    std::size_t start = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      result[b] = ends[b].next - start;
      start += branches.n_rows[b];
    }
    return result;
  }

  Growth<Entry>& growth_;
  Sender<Entry> sender_;
  Thresholds<Entry> thresholds_;
  std::vector<Workspace<Entry>>& workspaces_;
  Patience& patience_;
};

}  // namespace sureleaf::detail
