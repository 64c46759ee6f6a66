// Who wins among K classes, against two classes in closed form, symmetry, and small cases by hand.
#include "sureleaf/classes.hpp"

#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"
#include "sureleaf/levels.hpp"

using checks::close;

namespace {

std::vector<double> wins(std::int64_t n, const std::vector<double>& probabilities,
                         bool exact = true) {
  std::vector<double> results(probabilities.size());
  sureleaf::InterruptFlag interrupt;
  sureleaf::classes::win_probabilities(n, probabilities, results, exact,
                                       sureleaf::classes::usual_cut, interrupt);
  return results;
}

void two_classes_have_the_confidence_of_a_node() {
  for (int n : {1, 2, 3, 10, 77, 1000, 20001})
    for (double p : {0.5, 0.501, 0.6, 0.9, 1.0})
      CHECK(close(wins(n, {1 - p, p, 0.0})[1], sureleaf::confidence(n, p), 1e-13));
}

void one_and_two_rows_are_done_by_hand() {
  CHECK(close(wins(1, {0.5, 0.3, 0.2})[1], 0.3, 1e-15));
  // Two rows: both of one class, or one each and a draw between the two.
  CHECK(close(wins(2, {0.5, 0.3, 0.2})[0], 0.25 + 0.5 * 0.5, 1e-15));
  CHECK(wins(0, {0.7, 0.3, 0.0, 0.0})[0] == 0.25);
}

void someone_wins_and_equals_win_equally() {
  for (int n : {5, 50, 500, 5000}) {
    const auto uneven = wins(n, {0.1, 0.11, 0.12, 0.13, 0.14, 0.2, 0.2});
    CHECK(close(std::accumulate(uneven.begin(), uneven.end(), 0.0), 1.0, 1e-12));
    CHECK(close(uneven[5], uneven[6], 1e-14));
    for (double one : wins(n, std::vector<double>(40, 1.0 / 40)))
      CHECK(close(one, 1.0 / 40, 1e-13));
  }
}

void many_classes_are_approximate_within_the_stated_error() {
  for (const int n : {2000, 20000}) {
    std::vector<double> probabilities;
    for (int j = 0; j < 400; ++j) probabilities.push_back(1.0 + 0.002 * j);
    const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
    for (double& p : probabilities) p /= sum;
    const auto exact = wins(n, probabilities), close_to = wins(n, probabilities, false);
    CHECK(exact != close_to);
    for (std::size_t j = 0; j < exact.size(); ++j)
      CHECK(close(exact[j], close_to[j], 1.0 / (static_cast<double>(n) * n)));
  }
}

void threads_share_nothing() {
  const std::vector<double> probabilities{0.3, 0.28, 0.22, 0.2};
  const auto alone = wins(300, probabilities);
  std::vector<std::vector<double>> results(4);
  std::vector<std::thread> threads;
  for (auto& one : results) threads.emplace_back([&] { one = wins(300, probabilities); });
  for (auto& thread : threads) thread.join();
  for (const auto& one : results) CHECK(one == alone);
}

}  // namespace

TESTS(classes_test) {
  two_classes_have_the_confidence_of_a_node();
  one_and_two_rows_are_done_by_hand();
  someone_wins_and_equals_win_equally();
  many_classes_are_approximate_within_the_stated_error();
  threads_share_nothing();
}
