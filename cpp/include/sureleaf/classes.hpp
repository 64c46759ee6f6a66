// Which of K classes is the most frequent among n rows?
//
// The counts are multinomial: independent Poisson counts X_j with means n p_j, given that they
// add up to n. With a uniform U_j that draws the ties, class i wins when X_i + U_i is largest, so
//
//   P(i wins) = sum_t P(X_i = t) int_0^1 P(X_j + U_j < t + u for all j != i, rest adds to n - t) du
//               / P(X_1 + ... + X_K = n).
//
// The condition on the total is a Fourier coefficient of the product of the truncated generating
// functions A_j(z; t) + u P(X_j = t) z^t on the unit circle; the integrand is a polynomial in u,
// which Gauss-Legendre integrates exactly. Everything that is cut off has probability e^-cut, by
// default e^-42.
//
// Far from z = 1 the product is negligible: an increasing and then decreasing sequence of height h
// has a generating function of at most 2 h / |1 - z|. Points of the circle where the product of
// these bounds is negligible are left out.
//
// Classes of the same probability are one group: a power takes the place of their product, so the
// work grows with the number of different probabilities. Where it is still too much, the condition
// on the total is dropped: W(N) of a Poisson number of rows N with mean n is a sum of products of
// real numbers. E[W(N)] differs from W(n) by n W''(n) / 2 + O(1 / n^2), which the values at
// n - sqrt(n) and n + sqrt(n) take away.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "sureleaf/binomial.hpp"
#include "sureleaf/thread_pool.hpp"

namespace sureleaf::classes {

inline constexpr double usual_cut = 42.0;
inline constexpr double negligible = 1e-18;

// The largest chance of a tie, and sum of points of the circle, that is left out.
inline double tie_left_out(double cut) { return std::max(negligible, 0.01 * std::exp(-cut)); }
inline double points_left_out(double cut) { return std::max(1e-14, std::exp(-cut)); }

// P(X = k) of a Poisson count, for whole k.
inline double poisson(double k, double mean) {
  if (k == 0.0) return std::exp(-mean);
  return std::exp(-detail::stirling_error(k) - detail::deviance(k, mean)) /
         std::sqrt(2.0 * std::numbers::pi * k);
}

// How far a sum of indicators of this variance strays from its mean (Bernstein's inequality).
inline double reach(double variance, double cut) {
  const double third = cut / 3.0;
  return third + std::sqrt(third * third + 2.0 * cut * variance);
}

struct Quadrature {
  std::vector<double> nodes, weights;
};

// Gauss-Legendre on [0, 1]: exact for polynomials of degree 2 size - 1.
inline Quadrature gauss_legendre(std::size_t size) {
  Quadrature rule{std::vector<double>(size), std::vector<double>(size)};
  const auto n = static_cast<double>(size);
  for (std::size_t i = 0; i < size; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 100; ++step) {
      double before = 0.0, value = 1.0;
      for (double k = 0.0; k < n; ++k)
        before = std::exchange(value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
      slope = n * (x * value - before) / (x * x - 1.0);
      const double move = value / slope;
      x -= move;
      if (std::abs(move) < 1e-15) break;
    }
    rule.nodes[i] = 0.5 * (1.0 - x);
    rule.weights[i] = 1.0 / ((1.0 - x * x) * slope * slope);
  }
  return rule;
}

// The rule of this size; those of few ties are made once.
inline const Quadrature& shared_rule(std::size_t size, std::vector<Quadrature>& larger) {
  constexpr std::size_t n_shared = 33;
  static const std::vector<Quadrature> shared = [] {
    std::vector<Quadrature> rules;
    for (std::size_t i = 0; i < n_shared; ++i) rules.push_back(gauss_legendre(i));
    return rules;
  }();
  if (size < n_shared) return shared[size];
  while (larger.size() <= size - n_shared)
    larger.push_back(gauss_legendre(n_shared + larger.size()));
  return larger[size - n_shared];
}

// Lines of complex numbers as two arrays, so that loops take several numbers at a time.
class Lines {
 public:
  struct Line {
    double* re;
    double* im;
  };
  struct ConstLine {
    const double* re;
    const double* im;
    ConstLine(const double* r, const double* i) : re(r), im(i) {}
    ConstLine(Line line) : re(line.re), im(line.im) {}
  };

  Lines(std::size_t n_lines, std::size_t length)
      : length_(length), re_(n_lines * length, 0.0), im_(n_lines * length, 0.0) {}

  Line operator[](std::size_t i) { return {re_.data() + i * length_, im_.data() + i * length_}; }
  ConstLine operator[](std::size_t i) const {
    return {re_.data() + i * length_, im_.data() + i * length_};
  }

 private:
  std::size_t length_;
  std::vector<double> re_, im_;
};

inline void multiply(Lines::ConstLine a, Lines::ConstLine b, Lines::Line out, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const double re = a.re[k] * b.re[k] - a.im[k] * b.im[k];
    const double im = a.re[k] * b.im[k] + a.im[k] * b.re[k];
    out.re[k] = re;
    out.im[k] = im;
  }
}

// a + size * b.
inline void add_scaled(Lines::ConstLine a, double size, Lines::ConstLine b, Lines::Line out,
                       std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const double re = a.re[k] + size * b.re[k], im = a.im[k] + size * b.im[k];
    out.re[k] = re;
    out.im[k] = im;
  }
}

// The real part of the sum of products.
inline double sum_of_products(Lines::ConstLine a, Lines::ConstLine b, std::size_t n) {
  constexpr std::size_t n_lanes = 4;
  double lanes[n_lanes] = {};
  std::size_t k = 0;
  for (; k + n_lanes <= n; k += n_lanes)
    for (std::size_t lane = 0; lane < n_lanes; ++lane)
      lanes[lane] += a.re[k + lane] * b.re[k + lane] - a.im[k + lane] * b.im[k + lane];
  for (; k < n; ++k) lanes[0] += a.re[k] * b.re[k] - a.im[k] * b.im[k];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Classes of one probability: the mean n p of each, and how many there are.
struct Group {
  double mean = 0.0;
  std::size_t size = 1;
};

inline std::size_t n_classes(std::span<const Group> groups) {
  std::size_t sum = 0;
  for (const Group& group : groups) sum += group.size;
  return sum;
}

// Enough nodes for as many ties as have a chance at count t; none if nobody can win with t.
// `at` and `below` are P(X = t) and P(X < t) of one class of each group.
template <class Below>
std::size_t nodes_needed(double t, double rows, double scale, std::span<const Group> groups,
                         std::span<const double> at, double cut, Below&& below) {
  double all_below = scale, ties = 0.0, largest = 0.0;
  for (std::size_t j = 0; j < groups.size(); ++j) {
    const auto size = static_cast<double>(groups[j].size);
    const double not_above = below(j) + at[j] + negligible;
    all_below *= std::pow(std::min(1.0, not_above), size);
    ties += size * at[j] / not_above;
    largest = std::max(largest, at[j] / not_above);
  }
  const double others =
      std::min(static_cast<double>(n_classes(groups)), std::floor(rows / t)) - 1.0;
  std::size_t size = 0;
  double chance = all_below * largest;  // that 2 size others tie, by the union bound
  while (chance > tie_left_out(cut)) {
    ++size;
    const auto degree = static_cast<double>(2 * size);
    if (degree > others) break;
    chance *= ties * ties / (degree * (degree - 1.0));
  }
  return size;
}

// The probabilities to win of one class of each group that can, at one n.
class Race {
 public:
  // `groups` are the classes that can win, `rest` is the mean of the others together, all of whose
  // counts stay below `first`.
  Race(double rows, std::span<const Group> groups, double rest, double first, double last,
       double cut, InterruptFlag& interrupt)
      : rows_(rows),
        cut_(cut),
        first_(first),
        last_(last),
        groups_(groups),
        interrupt_(interrupt),
        points_(n_points(rows, cut)),
        half_(n_kept_points(rows, groups, rest, cut)),
        wins_(groups.size(), 0.0),
        at_(groups.size(), 0.0),
        rest_(1, half_),
        turned_(1, half_),
        after_(1, half_),
        power_(2, half_),
        below_(groups.size(), half_),
        factors_(groups.size(), half_),
        own_(groups.size(), half_),
        upto_(groups.size() + 1, half_) {
    for (std::size_t k = 0; k < points_; ++k)
      circle_.push_back(std::polar(
          1.0, 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points_)));
    scale_ = 1.0 / poisson(rows_, rows_);
    for (std::size_t k = 0; k < half_; ++k) {
      const bool alone = k == 0 || 2 * k == points_;  // the others stand for their conjugates too
      const double size = scale_ * (alone ? 1.0 : 2.0) / static_cast<double>(points_);
      const Complex value = size * std::exp(rest * (circle_[k] - 1.0)) * std::conj(turn(k, rows_));
      rest_[0].re[k] = value.real();
      rest_[0].im[k] = value.imag();
    }
    std::vector<double> starts;
    for (const Group& group : groups_)
      starts.push_back(std::floor(std::max(0.0, group.mean - reach(group.mean, cut))));
    for (double t = std::ranges::min(starts); t < first_; ++t) {
      interrupt_.check();
      turn_all(t);
      for (std::size_t j = 0; j < groups_.size(); ++j)
        if (t >= starts[j]) pass(j, poisson(t, groups_[j].mean));
    }
  }

  static std::size_t n_points(double rows, double cut) {
    return static_cast<std::size_t>(std::ceil(reach(rows, cut))) + 1;
  }

  // Points of the half circle from z = 1 on, without those that together add next to nothing.
  static std::size_t n_kept_points(double rows, std::span<const Group> groups, double rest,
                                   double cut) {
    const std::size_t points = n_points(rows, cut);
    const double scale = 2.0 / (poisson(rows, rows) * static_cast<double>(points));
    std::vector<double> heights;
    for (const Group& group : groups)
      heights.push_back(poisson(std::floor(group.mean), group.mean));
    const auto bound_at = [&](std::size_t k) {
      const double angle =
          2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
      const double distance = 2.0 * std::sin(0.5 * angle);  // |1 - z|
      double log_bound = -0.5 * rest * distance * distance, smallest = 0.0;
      for (std::size_t j = 0; j < groups.size(); ++j) {
        const double log_factor = std::log(std::min(1.0, 2.0 * heights[j] / distance));
        log_bound += static_cast<double>(groups[j].size) * log_factor;
        smallest = std::min(smallest, log_factor);
      }
      return scale * std::exp(log_bound - smallest);  // without the winner
    };
    const std::size_t half = points / 2 + 1;
    std::size_t low = 1, kept = half;
    while (low < kept) {  // the bound falls with the angle
      const std::size_t middle = (low + kept) / 2;
      if (static_cast<double>(half - middle) * bound_at(middle) > points_left_out(cut))
        low = middle + 1;
      else
        kept = middle;
    }
    return kept;
  }

  const std::vector<double>& run() {
    for (double t = first_; t <= last_; ++t) {
      turn_all(t);
      for (std::size_t j = 0; j < groups_.size(); ++j) at_[j] = poisson(t, groups_[j].mean);
      const std::size_t size = nodes_needed(t, rows_, scale_, groups_, at_, cut_,
                                            [this](std::size_t j) { return below_[j].re[0]; });
      const Quadrature& rule = shared_rule(size, larger_rules_);
      for (std::size_t i = 0; i < size; ++i) {
        interrupt_.check();
        add_wins(rule.nodes[i], rule.weights[i]);
      }
      for (std::size_t j = 0; j < groups_.size(); ++j) pass(j, at_[j]);
    }
    return wins_;
  }

 private:
  using Complex = std::complex<double>;

  // z^t at the k-th point of the circle.
  Complex turn(std::size_t k, double t) const {
    return circle_[(k * static_cast<std::size_t>(t)) % points_];
  }
  void turn_all(double t) {
    const std::size_t step = static_cast<std::size_t>(t) % points_;
    std::size_t at = 0;
    for (std::size_t k = 0; k < half_; ++k) {
      turned_[0].re[k] = circle_[at].real();
      turned_[0].im[k] = circle_[at].imag();
      at += step;
      if (at >= points_) at -= points_;
    }
  }

  // Of the count that the points are turned by.
  void pass(std::size_t j, double probability) {
    if (probability < negligible * negligible) return;
    add_scaled(below_[j], probability, turned_[0], below_[j], half_);
  }

  // The term of this count and tie break u in every class's probability: products over the other
  // classes come from one pass forward and one backward.
  void add_wins(double u, double weight) {
    const std::size_t n = groups_.size();
    multiply(rest_[0], turned_[0], upto_[0], half_);
    for (std::size_t j = 0; j < n; ++j) {
      add_scaled(below_[j], u * at_[j], turned_[0], factors_[j], half_);
      raise(factors_[j], groups_[j].size - 1, own_[j]);
      multiply(upto_[j], own_[j], upto_[j + 1], half_);
      multiply(upto_[j + 1], factors_[j], upto_[j + 1], half_);
    }
    std::fill_n(after_[0].re, half_, 1.0);
    std::fill_n(after_[0].im, half_, 0.0);
    for (std::size_t j = n; j-- > 0;) {
      multiply(after_[0], own_[j], after_[0], half_);  // the others of the group
      wins_[j] += weight * at_[j] * sum_of_products(upto_[j], after_[0], half_);
      multiply(after_[0], factors_[j], after_[0], half_);
    }
  }

  // base^exponent by repeated squaring.
  void raise(Lines::ConstLine base, std::size_t exponent, Lines::Line out) {
    std::fill_n(out.re, half_, 1.0);
    std::fill_n(out.im, half_, 0.0);
    if (exponent == 0) return;
    std::copy_n(base.re, half_, power_[0].re);
    std::copy_n(base.im, half_, power_[0].im);
    for (;; exponent /= 2) {
      if (exponent % 2 == 1) multiply(out, power_[0], out, half_);
      if (exponent == 1) return;
      multiply(power_[0], power_[0], power_[0], half_);
    }
  }

  double rows_, cut_, first_, last_, scale_ = 1.0;
  std::span<const Group> groups_;
  InterruptFlag& interrupt_;
  std::size_t points_, half_;
  std::vector<double> wins_, at_;
  std::vector<Complex> circle_;
  Lines rest_, turned_, after_, power_;  // one row, or two
  Lines below_, factors_, own_, upto_;   // one row per group, and one more
  std::vector<Quadrature> larger_rules_;
};

// The same for a Poisson number of rows: the counts are independent.
inline std::vector<double> independent_wins(std::span<const Group> groups, double scale,
                                            double first, double last, double cut,
                                            InterruptFlag& interrupt) {
  const std::size_t n = groups.size();
  std::vector<double> wins(n, 0.0), at(n), below(n, 0.0), own(n), upto(n + 1, 1.0), means(n);
  std::vector<Quadrature> larger_rules;
  double start = first;
  for (std::size_t j = 0; j < n; ++j) {
    means[j] = scale * groups[j].mean;
    start = std::min(start, std::floor(std::max(0.0, means[j] - reach(means[j], cut))));
  }
  for (double t = start; t <= last; ++t) {
    interrupt.check();
    for (std::size_t j = 0; j < n; ++j) at[j] = poisson(t, means[j]);
    if (t >= first) {
      const std::size_t size = nodes_needed(std::max(t, 1.0), 1e300, 1.0, groups, at, cut,
                                            [&](std::size_t j) { return below[j]; });
      const Quadrature& rule = shared_rule(std::min<std::size_t>(size, 12), larger_rules);
      for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          const double factor = below[j] + rule.nodes[i] * at[j];
          own[j] =
              groups[j].size == 1 ? 1.0 : std::pow(factor, static_cast<double>(groups[j].size - 1));
          upto[j + 1] = upto[j] * own[j] * factor;
        }
        double after = 1.0;
        for (std::size_t j = n; j-- > 0;) {
          after *= own[j];
          wins[j] += rule.weights[i] * at[j] * upto[j] * after;
          after *= below[j] + rule.nodes[i] * at[j];
        }
      }
    }
    for (std::size_t j = 0; j < n; ++j) below[j] += at[j];
  }
  return wins;
}

// W(n) from E[W(N)] at three means.
inline std::vector<double> approximate_wins(double rows, std::span<const Group> groups,
                                            double first, double last, double cut,
                                            InterruptFlag& interrupt) {
  const double step = 1.0 / std::sqrt(rows);
  const auto at = [&](double scale) {
    double low = std::max(0.0, first), high = last;
    for (const Group& group : groups) {
      const double mean = scale * group.mean;
      high = std::max(high, std::ceil(mean + reach(mean, cut)));
    }
    const double top = scale * groups[0].mean;  // the largest comes first
    low = std::min(low, std::max(0.0, std::floor(top - reach(top, cut))));
    return independent_wins(groups, scale, low, high, cut, interrupt);
  };
  std::vector<double> wins = at(1.0);
  const std::vector<double> below = at(1.0 - step), above = at(1.0 + step);
  double sum = 0.0;
  for (std::size_t j = 0; j < groups.size(); ++j) {
    wins[j] = std::clamp(2.0 * wins[j] - 0.5 * (below[j] + above[j]), 0.0, 1.0);
    sum += static_cast<double>(groups[j].size) * wins[j];
  }
  for (double& win : wins) win /= sum;
  return wins;
}

// The sum is approximate only for more classes that can win than this, and for more products of
// complex numbers per tie (more still for few rows, where the approximation is worse).
inline constexpr std::size_t few_classes = 16;
inline constexpr double much_work = 1e5, few_rows = 100.0, more_work = 10.0;

// P(class j wins) for every j, into `wins`; probabilities are not negative and add up to 1. Unless
// the sum must be exact, it may be approximate: the error is below 1 / n^2.
inline void win_probabilities(std::int64_t n, std::span<const double> probabilities,
                              std::span<double> wins, bool must_be_exact, double cut,
                              InterruptFlag& interrupt) {
  if (n == 0) {
    std::ranges::fill(wins, 1.0 / static_cast<double>(wins.size()));
    return;
  }
  std::ranges::fill(wins, 0.0);
  const auto rows = static_cast<double>(n);
  const auto spread = [rows, cut](double p) { return reach(rows * p * (1.0 - p), cut); };
  const auto possible =
      static_cast<double>(std::ranges::count_if(probabilities, [](double p) { return p > 0.0; }));
  const double top = std::ranges::max(probabilities);
  const double first = std::max(std::ceil(rows / possible), std::floor(rows * top - spread(top)));
  double last = 0.0, rest = 0.0;
  std::vector<std::size_t> able;
  for (std::size_t j = 0; j < probabilities.size(); ++j) {
    const double mean = rows * probabilities[j];
    const double highest = mean + spread(probabilities[j]);
    if (probabilities[j] > 0.0 && highest >= first) {
      able.push_back(j);
      last = std::max(last, std::min(rows, std::ceil(highest)));
    } else {
      rest += mean;
    }
  }
  if (able.size() == 1) {
    wins[able[0]] = 1.0;
    return;
  }
  std::ranges::stable_sort(able, std::greater{}, [&](std::size_t j) { return probabilities[j]; });
  std::vector<Group> groups;
  std::vector<std::size_t> group_of(able.size());
  for (std::size_t i = 0; i < able.size(); ++i) {
    if (i > 0 && probabilities[able[i]] == probabilities[able[i - 1]])
      ++groups.back().size;
    else
      groups.push_back({rows * probabilities[able[i]]});
    group_of[i] = groups.size() - 1;
  }
  const double work = (last - first + 1.0) * static_cast<double>(groups.size()) *
                      static_cast<double>(Race::n_kept_points(rows, groups, rest, cut));
  const bool is_exact = must_be_exact || able.size() <= few_classes ||
                        work <= much_work * (rows < few_rows ? more_work : 1.0);
  const std::vector<double> results =
      !is_exact ? approximate_wins(rows, groups, first, last, cut, interrupt)
                : Race(rows, groups, rest, first, last, cut, interrupt).run();
  for (std::size_t i = 0; i < able.size(); ++i)
    wins[able[i]] = std::clamp(results[group_of[i]], 0.0, 1.0);
}

}  // namespace sureleaf::classes
