// Split criteria. Each one is a policy type; `Criteria`, at the end, is the table of all.
//
// A criterion is a struct derived from CriterionDefaults with
//   name        the word that Python uses for it
//   impurity(weights, total, total_log)  the impurity of a group of rows times its weight, from its
//               weights per class, their sum and x log2 x of the sum; 0 for a pure group
// and, where that pays, faster ways to score thresholds: a scorer starts with all rows on the right
// of a threshold, move() takes rows to the left, and gain() is the decrease of the impurity times
// the weight of the rows with a known value. Divided by the node's weight, that is C4.5's gain.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sureleaf {

// ---- logarithms ---------------------------------------------------------------------------------

namespace detail {

// For 64 equal parts of [1, 2): log2 of the middle, and one over the middle.
struct LogPiece {
  double inverse, log;
};
inline constexpr std::size_t n_log_pieces = 64;
inline const std::array<LogPiece, n_log_pieces> log_pieces = [] {
  std::array<LogPiece, n_log_pieces> pieces;
  for (std::size_t i = 0; i < n_log_pieces; ++i) {
    const double middle = 1 + (static_cast<double>(i) + 0.5) / n_log_pieces;
    pieces[i] = {1 / middle, std::log2(middle)};
  }
  return pieces;
}();

}  // namespace detail

// x log2 x; 0 if x is not positive. The error is about 1e-15 of max(x, result): a table and seven
// terms of the series of log(1 + r). Inlined, this grows trees by gain ratio 5 % faster than calls
// of std::log2.
inline double xlog2x(double x) {
  constexpr double e = std::numbers::log2e;
  const double positive = x > 0 ? x : 0.0;  // 0 has the exponent -1023, which is multiplied by 0
  const auto bits = std::bit_cast<std::uint64_t>(positive);
  const double exponent = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
  const detail::LogPiece& piece = detail::log_pieces[(bits >> 46) & (detail::n_log_pieces - 1)];
  const auto mantissa = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | (1023ull << 52));
  const double r = mantissa * piece.inverse - 1, r2 = r * r;
  const double series =
      (e - e / 2 * r) + r2 * ((e / 3 - e / 4 * r) + r2 * (e / 5 - e / 6 * r) + r2 * r2 * (e / 7));
  return positive * (exponent + (piece.log + r * series));
}

// n log2 n for whole n in fixed point. Sums of such terms are exact, so they do not depend on the
// order of addition.
class LogTable {
 public:
  // For counts up to `largest`; counts of `n_stored` and above are computed when needed.
  LogTable(std::size_t largest, std::size_t n_stored) {
    const int bits = std::ilogb(xlog2x(static_cast<double>(largest)) + 1.0) + 1;
    scale_ = std::ldexp(1.0, std::min(44, 61 - bits));
    table_.reserve(n_stored);
    for (std::size_t n = 0; n < n_stored; ++n) table_.push_back(compute(static_cast<double>(n)));
  }
  std::int64_t operator()(std::int64_t n) const {
    return static_cast<std::size_t>(n) < table_.size() ? table_[static_cast<std::size_t>(n)]
                                                       : compute(static_cast<double>(n));
  }
  double scale() const { return scale_; }

 private:
  std::int64_t compute(double n) const { return std::llround(xlog2x(n) * scale_); }
  double scale_ = 1.0;
  std::vector<std::int64_t> table_;
};

// ---- scorers ------------------------------------------------------------------------------------

// Class weights on both sides of a threshold; the memory belongs to a thread.
template <class Weight>
struct Sides {
  explicit Sides(std::size_t n_classes) : left(n_classes), right(n_classes) {}
  std::vector<Weight> left, right;

  void start(std::span<const Weight> totals) {
    std::fill(left.begin(), left.end(), Weight{0});
    std::copy(totals.begin(), totals.end(), right.begin());
  }
};

// Any criterion, any weights. Impurities are computed anew for each threshold, so that rounding
// errors do not add up.
template <class Criterion, class Number>
class ImpurityScorer {
 public:
  using Weight = Number;

  ImpurityScorer(std::span<const Weight> totals, Sides<Weight>& sides, const LogTable&)
      : left_(sides.left), right_(sides.right) {
    sides.start(totals);
    for (const Weight w : totals) n_right_ += w;
    before_ = impurity(right_, n_right_);
  }
  void move(std::size_t k, Weight w) {
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const { return before_ - (impurity(left_, n_left_) + impurity(right_, n_right_)); }
  Weight left() const { return n_left_; }
  Weight right() const { return n_right_; }

 private:
  static double impurity(std::span<const Weight> weights, Weight n) {
    const auto total = static_cast<double>(n);
    return Criterion::impurity(weights, total, Criterion::needs_logs ? xlog2x(total) : 0.0);
  }
  std::span<Weight> left_, right_;
  Weight n_left_ = 0, n_right_ = 0;
  double before_ = 0;
};

// Entropy of whole counts, in bits.
class EntropyCountScorer {
 public:
  using Weight = std::int64_t;

  EntropyCountScorer(std::span<const Weight> totals, Sides<Weight>& sides, const LogTable& logs)
      : logs_(logs), left_(sides.left.data()), right_(sides.right.data()) {
    sides.start(totals);
    for (const Weight n : totals) {
      n_right_ += n;
      right_sum_ += logs(n);
    }
    before_ = logs(n_right_) - right_sum_;
  }
  void move(std::size_t k, Weight w) {
    left_sum_ += logs_(left_[k] + w) - logs_(left_[k]);
    right_sum_ += logs_(right_[k] - w) - logs_(right_[k]);
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const {
    const std::int64_t after = logs_(n_left_) - left_sum_ + logs_(n_right_) - right_sum_;
    return static_cast<double>(before_ - after) / logs_.scale();
  }
  Weight left() const { return n_left_; }
  Weight right() const { return n_right_; }

 private:
  const LogTable& logs_;
  Weight* left_;
  Weight* right_;
  Weight n_left_ = 0, n_right_ = 0;
  std::int64_t left_sum_ = 0, right_sum_ = 0, before_ = 0;
};

// Gini impurity of whole counts.
class GiniCountScorer {
 public:
  using Weight = std::int64_t;

  GiniCountScorer(std::span<const Weight> totals, Sides<Weight>& sides, const LogTable&)
      : left_(sides.left.data()), right_(sides.right.data()) {
    sides.start(totals);
    for (const Weight n : totals) {
      n_right_ += n;
      right_squares_ += square(n);
    }
    before_ = n_right_ > 0 ? right_squares_ / static_cast<double>(n_right_) : 0.0;
  }
  void move(std::size_t k, Weight w) {
    left_squares_ += square(left_[k] + w) - square(left_[k]);
    right_squares_ += square(right_[k] - w) - square(right_[k]);
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const {
    return left_squares_ / static_cast<double>(n_left_) +
           right_squares_ / static_cast<double>(n_right_) - before_;
  }
  Weight left() const { return n_left_; }
  Weight right() const { return n_right_; }

 private:
  // As doubles: exact up to 2**53, and no overflow above that.
  static double square(Weight n) { return static_cast<double>(n) * static_cast<double>(n); }
  Weight* left_;
  Weight* right_;
  Weight n_left_ = 0, n_right_ = 0;
  double left_squares_ = 0, right_squares_ = 0, before_ = 0;
};

// Gini impurity of fractional weights, by sums of squares: the node's weight, which is the same
// before and after a split, is left out and costs no digits.
class GiniWeightScorer {
 public:
  using Weight = double;

  GiniWeightScorer(std::span<const double> totals, Sides<double>& sides, const LogTable&)
      : left_(sides.left), right_(sides.right) {
    sides.start(totals);
    for (const double w : totals) n_right_ += w;
    before_ = squares(right_, n_right_);
  }
  void move(std::size_t k, double w) {
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  double gain() const { return squares(left_, n_left_) + squares(right_, n_right_) - before_; }
  double left() const { return n_left_; }
  double right() const { return n_right_; }

 private:
  static double squares(std::span<const double> weights, double total) {
    if (!(total > 0)) return 0.0;
    double sum = 0;
    for (const double w : weights) sum += w * w;
    return sum / total;
  }
  std::span<double> left_, right_;
  double n_left_ = 0, n_right_ = 0, before_ = 0;
};

// Two classes: two numbers describe a threshold. Most thresholds are dismissed by an upper bound on
// their gain that needs a few products, but no division and no logarithm.
template <class Number>
class TwoClassSides {
 public:
  using Weight = Number;

  explicit TwoClassSides(std::span<const Weight> totals)
      : total_(totals[0] + totals[1]),
        second_(totals[1]),
        total_weight_(static_cast<double>(total_)) {}
  void move(std::size_t k, Weight w) {
    left_ += w;
    left_second_ += k == 0 ? Weight{0} : w;
  }
  Weight left() const { return left_; }
  Weight right() const { return total_ - left_; }

 protected:
  Weight right_second() const { return second_ - left_second_; }
  // Whether scale * D^2 / (l r n) < limit for D = l_2 r - r_2 l, rounding errors included.
  bool bound_is_below(double limit, double scale) const {
    const auto l = static_cast<double>(left_), r = static_cast<double>(right());
    const double d =
        static_cast<double>(left_second_) * r - static_cast<double>(right_second()) * l;
    return d * d * scale < (limit - 1e-13 * total_weight_) * (l * r * total_weight_);
  }

  Weight total_, second_;
  Weight left_ = 0, left_second_ = 0;
  double total_weight_;
};

template <class Number>
class TwoClassEntropy : public TwoClassSides<Number> {
 public:
  using Weight = Number;

  TwoClassEntropy(std::span<const Weight> totals, Sides<Weight>&, const LogTable& logs)
      : TwoClassSides<Number>(totals),
        logs_(logs),
        before_(impurity(this->second_, this->total_)),
        // Information is at most chi-squared, since ln x <= x - 1.
        scale_(this->total_weight_ * std::numbers::log2e *
               (1 / static_cast<double>(totals[0]) + 1 / static_cast<double>(totals[1]))) {}
  double gain() const {
    const auto after =
        impurity(this->left_second_, this->left_) + impurity(this->right_second(), this->right());
    if constexpr (std::is_same_v<Weight, double>)
      return before_ - after;
    else
      return static_cast<double>(before_ - after) / logs_.scale();
  }
  // True only if gain() is not above the limit.
  bool is_at_most(double limit) const { return this->bound_is_below(limit, scale_); }

 private:
  Weight impurity(Weight second, Weight all) const {
    if constexpr (std::is_same_v<Weight, double>)
      return xlog2x(all) - xlog2x(second) - xlog2x(all - second);
    else
      return logs_(all) - logs_(second) - logs_(all - second);
  }
  const LogTable& logs_;
  Weight before_;
  double scale_;
};

template <class Number>
class TwoClassGini : public TwoClassSides<Number> {
 public:
  using Weight = Number;

  TwoClassGini(std::span<const Weight> totals, Sides<Weight>&, const LogTable&)
      : TwoClassSides<Number>(totals) {}
  double gain() const {
    const auto l = static_cast<double>(this->left_), r = static_cast<double>(this->right());
    const double difference =
        static_cast<double>(this->left_second_) / l - static_cast<double>(this->right_second()) / r;
    return 2.0 * difference * difference * (l / this->total_weight_) * r;
  }
  bool is_at_most(double limit) const { return this->bound_is_below(limit, 2.0); }
};

// ---- the best threshold of two classes ----------------------------------------------------------

// Counts of rows of both classes and of the second class, in one word: one addition counts a row.
struct SideCounts {
  std::uint64_t packed = 0;

  static constexpr double limit = 2147483648.0;  // the weight of all rows is below

  static SideCounts of(std::uint64_t count, std::uint64_t cls) {
    return {count | (cls * count) << 32};
  }
  // The sum of the counts of both classes.
  static SideCounts total(std::span<const std::int64_t> classes) {
    SideCounts sum = of(static_cast<std::uint64_t>(classes[0]), 0);
    sum.add(of(static_cast<std::uint64_t>(classes[1]), 1));
    return sum;
  }
  std::int64_t all() const { return static_cast<std::int64_t>(packed & 0xFFFFFFFFu); }
  std::int64_t second() const { return static_cast<std::int64_t>(packed >> 32); }
  void add(SideCounts more) { packed += more.packed; }
  SideCounts operator-(SideCounts less) const { return {packed - less.packed}; }
};

// A column in a node, of whose thresholds the best one is wanted.
struct TwoClassNode {
  SideCounts totals;  // of the rows with a known value
  double min_side;    // the least weight on either side
  double tie;         // gains closer than this are equal, and the first threshold is taken
  const LogTable* logs;

  bool allows(SideCounts left) const {
    return static_cast<double>(left.all()) >= min_side &&
           static_cast<double>(totals.all() - left.all()) >= min_side;
  }
  double n() const { return static_cast<double>(totals.all()); }
  // l_2 n - l n_2 and l r, where l and r are the weights on both sides: gains depend on these.
  double difference(SideCounts left) const {
    return static_cast<double>(left.second() * totals.all() - left.all() * totals.second());
  }
  double product(SideCounts left) const {
    return static_cast<double>(left.all()) * static_cast<double>(totals.all() - left.all());
  }
  // A gain so much below another one is no tie, rounding errors included.
  double margin() const { return 4 * tie + 1e-12 * n(); }
};

// The best threshold so far, offered in the order of cuts. The gain is a convex function of the
// counts on the left, so many thresholds can be dismissed at once: see block_scan.hpp.
class GiniThreshold {
 public:
  explicit GiniThreshold(const TwoClassNode& node) : node_(node) {}

  bool is_found() const { return top_ >= 0; }
  std::size_t cut() const { return cut_; }
  std::int64_t left() const { return left_; }
  double gain() const { return 2.0 * top_ / (node_.n() * bottom_); }

  // Compared by products, without division.
  void offer(SideCounts left, std::size_t cut) {
    const double d = node_.difference(left), product = node_.product(left);
    if (!(d * d * bottom_ > top_ * product) || !node_.allows(left)) return;
    top_ = d * d;
    bottom_ = product;
    cut_ = cut;
    left_ = left.all();
  }
  // The better one, the first one on ties.
  void offer(const GiniThreshold& other) {
    if (!other.is_found()) return;
    const double ours = top_ * other.bottom_, theirs = other.top_ * bottom_;
    if (theirs > ours || (theirs == ours && other.cut_ < cut_)) *this = other;
  }
  // Whether the gain with these counts on the left is above the limit.
  bool is_above(double limit, SideCounts left) const {
    const double d = node_.difference(left);
    return 2.0 * d * d > limit * (node_.n() * node_.product(left));
  }
  // Whether the order of thresholds matters, because other gains are almost the largest.
  bool has_near_tie() const { return false; }

 private:
  TwoClassNode node_;
  double top_ = -1.0, bottom_ = 1.0;
  std::size_t cut_ = 0;
  std::int64_t left_ = 0;
};

// Entropy in fixed point. Many thresholds are dismissed by an upper bound of their gain.
class EntropyThreshold {
 public:
  explicit EntropyThreshold(const TwoClassNode& node)
      : node_(node),
        before_(impurity(node.totals)),
        bound_(std::numbers::log2e *
               (1 / static_cast<double>(node.totals.second()) +
                1 / static_cast<double>(node.totals.all() - node.totals.second()))) {}

  bool is_found() const { return gain_ != none; }
  std::size_t cut() const { return cut_; }
  std::int64_t left() const { return left_; }
  double gain() const { return static_cast<double>(gain_) / node_.logs->scale(); }

  void offer(SideCounts left, std::size_t cut) {
    if (bound_is_below(least_, left) || !node_.allows(left)) return;
    const std::int64_t gain = gain_of(left);
    if (gain <= gain_) {
      if (gain < gain_) next_ = std::max(next_, gain);
      return;
    }
    next_ = gain_;
    gain_ = gain;
    cut_ = cut;
    left_ = left.all();
    least_ = this->gain() - node_.margin();
  }
  void offer(const EntropyThreshold& other) {
    if (!other.is_found()) return;
    const std::int64_t lower = std::min(gain_, other.gain_);
    std::int64_t next = std::max(next_, other.next_);
    if (gain_ != other.gain_) next = std::max(next, lower);
    if (other.gain_ > gain_ || (other.gain_ == gain_ && other.cut_ < cut_)) *this = other;
    next_ = next;
  }
  bool is_above(double limit, SideCounts left) const {
    return !bound_is_below(limit, left) &&
           static_cast<double>(gain_of(left)) > limit * node_.logs->scale();
  }
  bool has_near_tie() const {
    return next_ != none && static_cast<double>(gain_ - next_) <=
                                (1.001 * node_.tie + 1e-12 * node_.n()) * node_.logs->scale();
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  // Information is at most chi-squared, since ln x <= x - 1.
  bool bound_is_below(double limit, SideCounts left) const {
    const double d = node_.difference(left);
    return d * d * bound_ < (limit - 1e-13 * node_.n()) * node_.product(left);
  }
  std::int64_t impurity(SideCounts side) const {
    const LogTable& logs = *node_.logs;
    return logs(side.all()) - logs(side.second()) - logs(side.all() - side.second());
  }
  std::int64_t gain_of(SideCounts left) const {
    return before_ - impurity(left) - impurity(node_.totals - left);
  }

  TwoClassNode node_;
  std::int64_t before_;
  double bound_;
  std::int64_t gain_ = none, next_ = none;  // the largest gain, and the largest below it
  std::size_t cut_ = 0;
  std::int64_t left_ = 0;
  double least_ = -std::numeric_limits<double>::infinity();
};

// ---- criteria -----------------------------------------------------------------------------------

// The number of classes with any weight.
template <class Weight>
std::size_t count_present(std::span<const Weight> weights) {
  return static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](Weight w) { return w > 0; }));
}

// The categories of a split: each takes its own branch, or they are grouped in two.
struct CategorySizes {
  std::span<const double> weights;
  bool are_grouped;

  double count() const { return static_cast<double>(weights.size()); }
  double total_weight() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }
  // How much of the differences along one direction of class proportions the best grouping in two
  // is expected to keep: of normal proportions and equal sizes 2 / pi if categories are many, and
  // all if they are two; of single rows all.
  double kept_share() const {
    if (!are_grouped) return 1.0;
    constexpr double many = 2 / std::numbers::pi;
    const double normal = many + (1 - many) * 2 / count();
    double sum = 0;
    for (const double m : weights) sum += std::sqrt(m <= 1 ? m : m * normal + (1 - normal) / m);
    return std::min(sum * sum / (total_weight() * count()), 1.0);
  }
  // Of the directions of class proportions a grouping keeps one, which is chosen for its large
  // differences: so many times those of an average direction (the largest eigenvalue of a random
  // covariance matrix).
  double n_directions(std::span<const double> class_weights) const {
    const auto all = static_cast<double>(count_present(class_weights)) - 1;
    if (!are_grouped) return all;
    const double edge = 1 + std::sqrt(std::max(all - 1, 0.0) / (count() - 1));
    return std::min(all, edge * edge);
  }
};

// The share of the largest eigenvalue of diag(p) - p p', the covariance of class indicators.
inline double main_direction_share(std::span<const double> class_weights) {
  const double n = std::accumulate(class_weights.begin(), class_weights.end(), 0.0);
  std::vector<double> direction, p;
  double trace = 0;
  for (const double w : class_weights) {
    p.push_back(w / n);
    trace += w / n * (1 - w / n);
    direction.push_back(1.0 / static_cast<double>(p.size()));
  }
  if (count_present(class_weights) <= 2) return 1.0;
  double largest = 0;
  for (int step = 0; step < 1000; ++step) {
    const double before = largest;
    double mean = 0, norm = 0;
    for (std::size_t k = 0; k < p.size(); ++k) mean += p[k] * direction[k];
    for (std::size_t k = 0; k < p.size(); ++k) {
      direction[k] = p[k] * (direction[k] - mean);
      norm += direction[k] * direction[k];
    }
    largest = std::sqrt(norm);
    for (double& x : direction) x /= largest;
    if (step > 0 && std::abs(largest - before) < 1e-13 * largest) break;
  }
  return largest / trace;
}

// What a criterion has if it does not say otherwise.
template <class Criterion>
struct CriterionDefaults {
  using Impurity = Criterion;
  static constexpr bool has_c45_rules = false;      // gain ratio and C4.5's guards
  static constexpr bool needs_logs = false;         // impurity() reads total_log, scorers LogTable
  static constexpr bool has_own_list_scan = false;  // split.hpp has scans for it
  template <class Weight>
  using Scorer = ImpurityScorer<Criterion, Weight>;
  template <class Weight>
  using TwoClassScorer = ImpurityScorer<Criterion, Weight>;
  using TwoClassThreshold = void;  // a class like GiniThreshold

  // The gain that a split by categories is expected to have by chance, times the weight: a share of
  // the impurity that is exact for gini, whatever the sizes of the categories.
  static double gain_by_chance(std::span<const double> class_weights,
                               const CategorySizes& categories) {
    const double n = categories.total_weight(), k = categories.count();
    const double impurity =
        Criterion::impurity(class_weights, n, Criterion::needs_logs ? xlog2x(n) : 0.0);
    const double share = std::min((k - 1) / std::max(n - 1, 1.0), 1.0);
    double directions = 1;
    if (categories.are_grouped)
      directions = std::min(
          1.0, main_direction_share(class_weights) * categories.n_directions(class_weights));
    return impurity * std::min(share * directions * categories.kept_share(), 1.0);
  }
  // What a degree of freedom is expected to gain by chance, times the weight.
  static double gain_per_freedom(double impurity, double n) {
    return impurity / std::max(n - 1, 1.0);
  }
};

struct Entropy : CriterionDefaults<Entropy> {
  static constexpr std::string_view name = "entropy";
  static constexpr bool needs_logs = true;
  template <class Weight>
  using Scorer = std::conditional_t<std::is_same_v<Weight, double>, ImpurityScorer<Entropy, double>,
                                    EntropyCountScorer>;
  template <class Weight>
  using TwoClassScorer = TwoClassEntropy<Weight>;
  using TwoClassThreshold = EntropyThreshold;

  // `total_log` is xlog2x(total).
  template <class Weight>
  static double impurity(std::span<const Weight> weights, double total, double total_log) {
    double sum = 0;
    for (const Weight weight : weights) sum += xlog2x(static_cast<double>(weight));
    return total > 0 ? total_log - sum : 0.0;
  }

  // Of a large category the expected gain is half a degree of freedom, in nats; of one or two rows
  // it is their entropy. A grouping in two has one bit at most.
  static double gain_by_chance(std::span<const double> class_weights,
                               const CategorySizes& categories) {
    const double n = categories.total_weight(), k = categories.count();
    const double all = impurity(class_weights, n, xlog2x(n));
    const double large = categories.n_directions(class_weights) * std::numbers::log2e / 2;
    const double small = categories.are_grouped ? std::min(all / n, 1.0) : all / n;
    const double few = small > large && !categories.are_grouped ? 2.0 : 1.0;
    double sum = 0;
    for (const double m : categories.weights)
      sum += large + (small - large) * std::min(1.0, few / m);
    const double freedom = (k - 1) / k * n / std::max(n - 1, 1.0);
    return std::min(all, sum * freedom * categories.kept_share());
  }
  static double gain_per_freedom(double, double) { return std::numbers::log2e / 2; }
};

struct Gini : CriterionDefaults<Gini> {
  static constexpr std::string_view name = "gini";
  static constexpr bool has_own_list_scan = true;
  template <class Weight>
  using Scorer =
      std::conditional_t<std::is_same_v<Weight, double>, GiniWeightScorer, GiniCountScorer>;
  template <class Weight>
  using TwoClassScorer = TwoClassGini<Weight>;
  using TwoClassThreshold = GiniThreshold;

  template <class Weight>
  static double impurity(std::span<const Weight> weights, double total, double) {
    double sum = 0;
    for (const Weight weight : weights) {
      const auto w = static_cast<double>(weight);
      sum += w * w;
    }
    return total > 0 ? total - sum / total : 0.0;
  }
};

// What is subtracted from the gain of a split by categories: the gain that is expected by chance,
// and for many categories more, so that chance favours no column. Gains by chance are about those
// of chi-squared numbers, whose variance is twice their mean: two standard deviations above the
// mean they are d + 2 sqrt(2 d) with d degrees of freedom. The best threshold of a column of
// numbers, from which nothing is subtracted, gains 8 to 12 by chance at this level.
template <class Impurity>
double category_cost(std::span<const double> class_weights, const CategorySizes& categories) {
  constexpr double of_numbers = 8;
  const double n = categories.total_weight();
  const double all = Impurity::impurity(class_weights, n, Impurity::needs_logs ? xlog2x(n) : 0.0);
  const double mean = Impurity::gain_by_chance(class_weights, categories);
  const double unit = Impurity::gain_per_freedom(all, n);
  if (!(unit > 0)) return mean;
  return std::min(all, mean + unit * std::max(0.0, 2 * std::sqrt(2 * mean / unit) - of_numbers));
}

// Entropy with C4.5's rules; its Impurity is Entropy.
struct GainRatio : Entropy {
  static constexpr std::string_view name = "gain_ratio";
  static constexpr bool has_c45_rules = true;
};

// ---- the table ----------------------------------------------------------------------------------

template <class... Entries>
struct CriterionTable {
  static constexpr std::size_t size = sizeof...(Entries);
  static constexpr std::array<std::string_view, size> names{Entries::name...};
  static constexpr std::array<bool, size> have_c45_rules{Entries::has_c45_rules...};
  static constexpr std::array<bool, size> need_logs{Entries::needs_logs...};

  template <class Criterion>
  static constexpr std::uint8_t id_of() {
    std::uint8_t id = 0;
    (void)((std::is_same_v<Criterion, Entries> || (++id, false)) || ...);
    return id;
  }
  // Calls use(Impurity{}) for the criterion of this id.
  template <class Use>
  static decltype(auto) visit(std::uint8_t id, Use&& use) {
    return visit_from<Entries...>(id, use);
  }

 private:
  template <class First, class... Rest, class Use>
  static decltype(auto) visit_from(std::uint8_t id, Use& use) {
    if constexpr (sizeof...(Rest) == 0)
      return use(typename First::Impurity{});
    else if (id == 0)
      return use(typename First::Impurity{});
    else
      return visit_from<Rest...>(static_cast<std::uint8_t>(id - 1), use);
  }
};

using Criteria = CriterionTable<GainRatio, Entropy, Gini>;

template <class Criterion>
inline constexpr std::uint8_t criterion_id = Criteria::id_of<Criterion>();

// Rows taken together.
struct Group {
  double weight = 0;
  double weight_log = 0;  // xlog2x(weight) if the criterion needs logarithms
  double impurity = 0;    // times the weight

  Group() = default;
  template <class Weight>
  Group(std::span<const Weight> weights, std::uint8_t criterion) {
    for (const Weight w : weights) weight += static_cast<double>(w);
    Criteria::visit(criterion, [&](auto policy) {
      if (policy.needs_logs) weight_log = xlog2x(weight);
      impurity = policy.impurity(weights, weight, weight_log);
    });
  }
};

}  // namespace sureleaf
