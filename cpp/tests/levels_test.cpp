// Levels and binomial probabilities against direct sums in long double, and at their edges.
#include "sureleaf/levels.hpp"

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "check.hpp"
#include "sureleaf/binomial.hpp"

using checks::close;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// P(Bin(n, p) = y) for y = 0..n, by the recurrence from row to row of Pascal's triangle.
std::vector<long double> binomial_row(int n, long double p) {
  std::vector<long double> row{1};
  for (int trial = 0; trial < n; ++trial) {
    std::vector<long double> next(row.size() + 1, 0);
    for (std::size_t y = 0; y < row.size(); ++y) {
      next[y] += row[y] * (1 - p);
      next[y + 1] += row[y] * p;
    }
    row = next;
  }
  return row;
}

// (5), term by term.
long double slow_confidence(int n, long double p) {
  const auto row = binomial_row(n, p);
  long double sum = 0;
  for (int y = 0; y <= n; ++y) sum += row[y] * (2 * y > n ? 1.0L : 2 * y == n ? 0.5L : 0.0L);
  return sum;
}

// (9), term by term, with a coin for no rows.
long double slow_node_confidence(int n, long double share, long double p) {
  const auto row = binomial_row(n, share);
  long double sum = 0;
  for (int m = 0; m <= n; ++m) sum += row[m] * slow_confidence(m, p);
  return sum;
}

void confidence_equals_the_sum() {
  for (int n : {0, 1, 2, 3, 10, 63, 64, 65, 66, 67, 68, 150, 301})
    for (double p : {0.5, 0.5 + 1e-9, 0.51, 0.6, 0.75, 0.99, 1.0})
      CHECK(close(sureleaf::confidence(n, p), static_cast<double>(slow_confidence(n, p)), 4e-16));
}

void confidence_has_exact_edges() {
  CHECK(sureleaf::confidence(0, 0.7) == 0.5);
  CHECK(sureleaf::confidence(1e9, 0.5) == 0.5);
  CHECK(sureleaf::confidence(1e9, 1.0) == 1.0);
  CHECK(sureleaf::confidence(kInfinity, 0.5) == 0.5);
  CHECK(sureleaf::confidence(kInfinity, 0.5000001) == 1.0);
  CHECK(sureleaf::confidence(1e300, 0.6) == 1.0);
  CHECK(std::isnan(sureleaf::confidence(kNaN, 0.6)));
  CHECK(std::isnan(sureleaf::confidence(5, kNaN)));
  for (double n : {1.0, 2.0, 63.0, 64.0, 65.0, 1e6}) {
    const double low = sureleaf::confidence(n, 0.6), high = sureleaf::confidence(n + 1, 0.6);
    CHECK(close(sureleaf::confidence(n + 0.25, 0.6), 0.75 * low + 0.25 * high, 2e-16));
  }
}

void both_ways_to_the_confidence_meet() {
  for (double p = 0.5; p <= 1; p += 1.0 / 1024)
    CHECK(close(sureleaf::detail::confidence_by_sum(32, p),
                sureleaf::detail::confidence_by_expansion(32, sureleaf::detail::decay_of(p)),
                5e-16));
}

void node_confidence_equals_the_sum() {
  for (int n : {0, 1, 2, 7, 40, 90})
    for (double share : {1e-9, 0.1, 0.5, 0.999, 1.0})
      for (double p : {0.5, 0.6, 0.9, 1.0}) {
        const long double slow = slow_node_confidence(n, share, p);
        const long double empty = std::pow(1 - static_cast<long double>(share), n);
        const auto miss = static_cast<double>(slow - empty / 2);
        CHECK(
            close(sureleaf::node_confidence(n, share, p, true), static_cast<double>(slow), 1e-15));
        CHECK(close(sureleaf::node_confidence(n, share, p, false), miss, 1e-15));
      }
}

void both_ways_to_the_node_confidence_meet() {
  for (double share : {0.02, 0.3, 0.5, 0.9})
    for (double deviations : {0.1, 0.5, 1.0, 2.0, 4.0}) {
      const double n = std::round(2e7 / (share * (1 - share)));
      const double p = 0.5 + 0.5 * deviations / std::sqrt(n * share);
      const double decay = sureleaf::detail::decay_of(p);
      CHECK(close(sureleaf::detail::expected_by_walk(n, share, p, decay),
                  sureleaf::detail::expected_by_two_points(n, share, decay), 1e-13));
    }
}

void node_confidence_has_exact_edges() {
  CHECK(sureleaf::node_confidence(10, 0, 0.9, true) == 0.5);
  CHECK(sureleaf::node_confidence(10, 0, 0.9, false) == 0.0);
  CHECK(sureleaf::node_confidence(0, 1, 0.9, false) == 0.0);
  CHECK(sureleaf::node_confidence(1e300, 1e-9, 0.9, true) == 1.0);
  CHECK(sureleaf::node_confidence(kInfinity, 0.1, 0.9, false) == 1.0);
  CHECK(sureleaf::node_confidence(kInfinity, 0, 0.9, true) == 0.5);
  CHECK(std::isnan(sureleaf::node_confidence(10, kNaN, 0.9, true)));
  // the walk to the mode begins some 1e380 below it
  CHECK(close(sureleaf::node_confidence(24, 1 - 0x1p-53, 0.75, true),
              sureleaf::confidence(24, 0.75), 1e-14));
}

void entropic_estimate_maximises_the_likelihood() {
  for (int n = 2; n <= 60; ++n)
    for (int y = (n + 1) / 2; y < n; ++y) {
      const double estimate = sureleaf::entropic_estimate(y, n), d = 2 * y - n;
      CHECK(estimate >= 0.5 && estimate <= static_cast<double>(y) / n);
      if (d * d <= n) {
        CHECK(estimate == 0.5);
        continue;
      }
      const auto slope = [&](double s) { return d * std::tanh(d * std::atanh(s)) - n * s; };
      CHECK(slope(2 * estimate - 1 - 1e-12) > 0 && slope(2 * estimate - 1 + 1e-12) < 0);
    }
  CHECK(close(sureleaf::entropic_estimate(5, 7), 2.0 / 3, 2e-16));
  CHECK(sureleaf::entropic_estimate(1, 1) == 0.5);
  CHECK(sureleaf::entropic_estimate(2, 2) == 1.0);
  CHECK(sureleaf::entropic_estimate(1e9, 1e9) == 1.0);
  CHECK(sureleaf::entropic_estimate(0, 0) == 0.5);
  CHECK(std::isnan(sureleaf::entropic_estimate(kNaN, 4)));
}

void log_binomial_equals_the_row() {
  for (int n : {0, 1, 2, 15, 16, 17, 40, 200})
    for (double p : {0.5, 0.6, 0.95}) {
      const auto row = binomial_row(n, p);
      for (int y = 0; y <= n; ++y)
        CHECK(close(sureleaf::log_binomial(y, n, p), static_cast<double>(std::log(row[y])), 2e-13));
    }
  CHECK(sureleaf::log_binomial(3, 3, 1) == 0);
  CHECK(sureleaf::log_binomial(2, 3, 1) == -kInfinity);
  CHECK(sureleaf::log_binomial(0, 3, 1) == -kInfinity);
  CHECK(std::isnan(sureleaf::log_binomial(2, 3, kNaN)));
}

void threads_compute_the_same_levels() {
  std::vector<double> estimate(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&estimate, i] {
      estimate[i] = sureleaf::node_confidence(1e4, 0.3, 0.51, true) +
                    sureleaf::entropic_estimate(60, 100) + sureleaf::log_binomial(60, 100, 0.6);
    });
  for (auto& thread : threads) thread.join();
  for (double each : estimate) CHECK(each == estimate[0]);
}

}  // namespace

TESTS(levels_test) {
  confidence_equals_the_sum();
  confidence_has_exact_edges();
  both_ways_to_the_confidence_meet();
  node_confidence_equals_the_sum();
  both_ways_to_the_node_confidence_meet();
  node_confidence_has_exact_edges();
  entropic_estimate_maximises_the_likelihood();
  log_binomial_equals_the_row();
  threads_compute_the_same_levels();
}
