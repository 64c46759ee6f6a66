// A scan in blocks finds the threshold that is found if all are offered.
#include "sureleaf/block_scan.hpp"

#include <random>
#include <vector>

#include "check.hpp"

using sureleaf::EntropyThreshold;
using sureleaf::GiniThreshold;
using sureleaf::LogTable;
using sureleaf::Packing;
using sureleaf::SideCounts;
using sureleaf::TwoClassNode;
using sureleaf::detail::BlockScan;

namespace {

struct List {
  std::vector<std::uint32_t> entries;
  Packing<std::uint32_t> packing;
  SideCounts totals;

  std::int64_t count(std::uint32_t entry) const {
    return packing.holds_counts() ? packing.count(entry) : 1;
  }
};

// Rows in order of value: some values are equal, and the share of the second class changes once.
List make_list(std::size_t n, double change, std::size_t largest_count, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  List list{{}, Packing<std::uint32_t>(n, 2, largest_count), {}};
  const std::size_t where = random() % n;
  const double share_of_ties = uniform();
  for (std::size_t row = 0; row < n; ++row) {
    const std::size_t cls = uniform() < (row < where ? 0.5 : 0.5 + change);
    const std::size_t times = 1 + random() % largest_count;
    list.entries.push_back(
        list.packing.pack(row, cls, times, row > 0 && uniform() > share_of_ties));
    list.totals.add(SideCounts::of(times, cls));
  }
  return list;
}

template <class Threshold>
Threshold offer_all(const List& list, const TwoClassNode& node) {
  Threshold best(node);
  SideCounts left;
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    if (i > 0 && (list.entries[i] & Packing<std::uint32_t>::increase)) best.offer(left, i);
    left.add(SideCounts::of(static_cast<std::uint64_t>(list.count(list.entries[i])),
                            list.packing.cls(list.entries[i])));
  }
  return best;
}

template <class Threshold>
void agrees_with_all_thresholds() {
  BlockScan<std::uint32_t> scan;
  int n_differ = 0, n_wrong_floor = 0, n_pruned = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const std::size_t n = 2 + seed * 7919 % 700;
    const List list = make_list(n, seed % 3 * 0.2, seed % 2 ? 1 : 3, seed);
    const LogTable logs(static_cast<std::size_t>(list.totals.all()) + 1, 100);
    const double min_side = seed % 5 == 0 ? 0.1 * static_cast<double>(list.totals.all()) : 1;
    const TwoClassNode node{list.totals, min_side, 1e-10 * static_cast<double>(n), &logs};
    const auto expected = offer_all<Threshold>(list, node);
    auto find = [&](double floor) {
      Threshold best(node);
      n_pruned += scan.find(
          std::span(list.entries), list.packing,
          [&](std::uint32_t entry) { return list.count(entry); }, floor, node, best);
      return best;
    };
    auto equals = [&](const Threshold& best) {
      return best.is_found() == expected.is_found() && best.cut() == expected.cut() &&
             best.left() == expected.left() && best.gain() == expected.gain() &&
             best.has_near_tie() == expected.has_near_tie();
    };
    n_differ += !equals(find(-std::numeric_limits<double>::infinity()));
    if (!expected.is_found()) continue;
    n_differ += !equals(find(expected.gain()));
    const Threshold lower = find(2 * expected.gain() + 1);
    n_wrong_floor += lower.is_found() && lower.gain() > expected.gain();
  }
  CHECK(n_differ == 0);
  CHECK(n_wrong_floor == 0);
  CHECK(n_pruned > 3000);
}

// The rows before the first block are too few for a side, but their gain is the largest.
void looks_beside_thresholds_that_are_not_allowed() {
  List list{{}, Packing<std::uint32_t>(64, 2), {}};
  for (std::size_t row = 0; row < 64; ++row) {
    const std::size_t cls = row < 16 || row % 2;
    list.entries.push_back(list.packing.pack(row, cls, 1, row > 0));
    list.totals.add(SideCounts::of(1, cls));
  }
  const LogTable logs(65, 66);
  const TwoClassNode node{list.totals, 19, 1e-8, &logs};
  GiniThreshold best(node);
  BlockScan<std::uint32_t>().find(
      std::span<const std::uint32_t>(list.entries), list.packing,
      [](std::uint32_t) { return std::int64_t{1}; }, -1.0, node, best);
  CHECK(best.cut() == offer_all<GiniThreshold>(list, node).cut());
  CHECK(best.cut() == 20 || best.cut() == 19);
}

}  // namespace

TESTS(block_scan_test) {
  agrees_with_all_thresholds<GiniThreshold>();
  agrees_with_all_thresholds<EntropyThreshold>();
  looks_beside_thresholds_that_are_not_allowed();
}
