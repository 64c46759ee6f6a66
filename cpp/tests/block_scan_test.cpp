// A scan in blocks finds the threshold that is found if all are offered.
#include "sureleaf/block_scan.hpp"

#include <random>
#include <vector>

#include "check.hpp"

using sureleaf::EntropyThreshold;
using sureleaf::GiniListScan;
using sureleaf::GiniThreshold;
using sureleaf::LogTable;
using sureleaf::Packing;
using sureleaf::SideCounts;
using sureleaf::TwoClassNode;
using sureleaf::detail::BlockScan;
using sureleaf::detail::GiniBlockScan;

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

// Rows of several classes in order of value, of which some are equal; their shares change once.
struct ClassList {
  std::vector<std::uint32_t> entries;
  Packing<std::uint32_t> packing;
  std::vector<std::int64_t> totals;
};
ClassList make_class_list(std::size_t n, std::size_t n_classes, double change, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  ClassList list{{}, Packing<std::uint32_t>(n, n_classes), std::vector<std::int64_t>(n_classes, 0)};
  const std::size_t where = random() % n, favoured = random() % n_classes;
  const double share_of_ties = seed % 4 == 0 ? 0 : uniform();
  for (std::size_t row = 0; row < n; ++row) {
    const bool is_favoured = row >= where && uniform() < change;
    const std::size_t cls = is_favoured ? favoured : random() % n_classes;
    list.entries.push_back(list.packing.pack(row, cls, 1, uniform() >= share_of_ties));
    ++list.totals[cls];
  }
  return list;
}

// The gain from its definition, at the first of the best thresholds.
struct NaiveThreshold {
  std::size_t cut = 0;
  double gain = -1;
};
NaiveThreshold best_by_definition(const ClassList& list, std::size_t least) {
  const std::size_t n = list.entries.size();
  auto purity = [](const std::vector<std::int64_t>& counts, std::size_t n_rows) {
    double sum = 0;
    for (const std::int64_t count : counts) sum += static_cast<double>(count * count);
    return sum / static_cast<double>(n_rows);
  };
  NaiveThreshold best;
  std::vector<std::int64_t> left(list.totals.size(), 0), right = list.totals;
  for (std::size_t i = 0; i < n; ++i) {
    if (i >= std::max<std::size_t>(least, 1) && n - i >= least &&
        (list.entries[i] & Packing<std::uint32_t>::increase)) {
      const double gain = purity(left, i) + purity(right, n - i) - purity(list.totals, n);
      if (gain > best.gain + 1e-9) best = {i, gain};
    }
    ++left[list.packing.cls(list.entries[i])];
    --right[list.packing.cls(list.entries[i])];
  }
  return best;
}

void gini_of_more_classes_agrees_with_all_thresholds() {
  GiniBlockScan<std::uint32_t> blocks;
  constexpr double none = -std::numeric_limits<double>::infinity();
  int n_differ = 0, n_wrong = 0, n_wrong_floor = 0, n_pruned = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const std::size_t n = 128 + seed * 7919 % 1500, n_classes = 2 + seed % 7;
    const ClassList list = make_class_list(n, n_classes, seed % 5 * 0.25, seed);
    const std::span<const std::uint32_t> entries(list.entries);
    const std::size_t least = seed % 3 == 0 ? n / 10 : 1;
    sureleaf::Sides<std::int64_t> sides(n_classes);
    auto start = [&] {
      return GiniListScan<std::uint32_t>(entries, list.packing, list.totals,
                                         static_cast<double>(least), sides);
    };
    auto find = [&](double floor) {
      GiniListScan<std::uint32_t> scan = start();
      n_pruned +=
          blocks.find(entries, list.packing, list.totals, static_cast<double>(least), floor, scan);
      return scan;
    };
    GiniListScan<std::uint32_t> all = start();
    all.scan(0, n);
    const NaiveThreshold naive = best_by_definition(list, least);
    n_wrong += all.is_found() ? !checks::close(all.gain(), naive.gain, 1e-8) : naive.gain >= 0;
    const auto in_blocks = find(none);
    n_differ += in_blocks.is_found() != all.is_found() || in_blocks.cut() != all.cut();
    if (!all.is_found()) continue;
    n_differ += in_blocks.gain() != all.gain();
    const auto with_floor = find(all.gain());
    n_differ += with_floor.cut() != all.cut() || with_floor.gain() != all.gain();
    const auto lower = find(2 * all.gain() + 1);
    n_wrong_floor += lower.is_found() && lower.gain() > all.gain();
  }
  CHECK(n_differ == 0);
  CHECK(n_wrong == 0);
  CHECK(n_wrong_floor == 0);
  CHECK(n_pruned > 2000);
}

}  // namespace

TESTS(block_scan_test) {
  gini_of_more_classes_agrees_with_all_thresholds();
  agrees_with_all_thresholds<GiniThreshold>();
  agrees_with_all_thresholds<EntropyThreshold>();
  looks_beside_thresholds_that_are_not_allowed();
}
