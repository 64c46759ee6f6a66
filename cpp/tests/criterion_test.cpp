#include "sureleaf/criterion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using sureleaf::Entropy;
using sureleaf::EntropyCountScorer;
using sureleaf::Gini;
using sureleaf::GiniCountScorer;
using sureleaf::GiniWeightScorer;
using sureleaf::ImpurityScorer;
using sureleaf::LogTable;
using sureleaf::Sides;
using sureleaf::TwoClassEntropy;
using sureleaf::TwoClassGini;
using sureleaf::xlog2x;

void logarithms_agree_with_the_library() {
  std::mt19937_64 random(1);
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = std::ldexp(1 + std::generate_canonical<double, 53>(random),
                                static_cast<int>(random() % 90) - 30);
    const double expected = x * std::log2(x);
    worst = std::max(worst, std::abs(xlog2x(x) - expected) / std::max(x, std::abs(expected)));
  }
  CHECK(worst < 1e-15);
  CHECK(xlog2x(0.0) == 0.0);
  CHECK(xlog2x(-1e-17) == 0.0);
  CHECK(xlog2x(2.0) == 2.0);
  CHECK(std::abs(xlog2x(1.0)) < 1e-16);
  CHECK(std::abs(xlog2x(std::numeric_limits<double>::denorm_min())) < 1e-300);
}

// Moves rows of two classes through both scorers and compares them at every cut.
template <class Scorer, class Other, class Weight>
void compare(const std::vector<std::pair<std::size_t, Weight>>& rows) {
  std::vector<Weight> totals(2, Weight{0});
  for (const auto& [k, w] : rows) totals[k] += w;
  double total = static_cast<double>(totals[0] + totals[1]);
  const LogTable logs(static_cast<std::size_t>(total) + 1, 100);
  Sides<Weight> sides(2), other_sides(2);
  Scorer scorer(totals, sides, logs);
  Other other(totals, other_sides, logs);
  bool agrees = true, dismisses_rightly = true;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    scorer.move(rows[i].first, rows[i].second);
    other.move(rows[i].first, rows[i].second);
    agrees = agrees && checks::close(scorer.gain(), other.gain(), 1e-10 * total) &&
             checks::close(static_cast<double>(scorer.left()), static_cast<double>(other.left()),
                           1e-12 * total) &&
             checks::close(static_cast<double>(scorer.right()), static_cast<double>(other.right()),
                           1e-12 * total);
    for (const double limit : {0.0, scorer.gain() * (1 - 1e-9), scorer.gain() / 2})
      if (scorer.gain() > limit && scorer.is_at_most(limit)) dismisses_rightly = false;
  }
  CHECK(agrees);
  CHECK(dismisses_rightly);
  CHECK(scorer.is_at_most(2 * total));
}

void two_classes_are_measured_as_many_are() {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + random() % 60, one_in = 2 + random() % 9;
    std::vector<std::pair<std::size_t, std::int64_t>> counts;
    std::vector<std::pair<std::size_t, double>> weights;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = i < 2 ? i : random() % one_in == 0;
      counts.emplace_back(k, 1 + random() % 3);
      weights.emplace_back(k, std::generate_canonical<double, 53>(random) + 1e-3);
    }
    compare<TwoClassEntropy<std::int64_t>, EntropyCountScorer>(counts);
    compare<TwoClassGini<std::int64_t>, GiniCountScorer>(counts);
    compare<TwoClassEntropy<double>, ImpurityScorer<Entropy, double>>(weights);
    compare<TwoClassGini<double>, GiniWeightScorer>(weights);
  }
}

}  // namespace

TESTS(criterion_test) {
  logarithms_agree_with_the_library();
  two_classes_are_measured_as_many_are();
}
