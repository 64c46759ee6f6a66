// Probabilities to win among K classes: shapes and values are checked here, the loop runs without
// the GIL.
#include "sureleaf/classes.hpp"

#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "gil.hpp"
#include "parts.hpp"

namespace nb = nanobind;

using Rows = nb::ndarray<const std::int64_t, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Probabilities =
    nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Wins = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

namespace {

constexpr std::int64_t max_rows = std::int64_t{1} << 40;

void check_distribution(std::span<const double> probabilities) {
  double sum = 0.0;
  for (const double p : probabilities) {
    if (!(p >= 0.0 && p <= 1.0 + 1e-6)) throw std::invalid_argument("a probability is not one");
    sum += p;
  }
  if (!(std::abs(sum - 1.0) < 1e-6))
    throw std::invalid_argument("the probabilities do not add up to 1");
}

}  // namespace

void bind_classes(nb::module_& module) {
  module.def(
      "plurality",
      [](Rows rows, Probabilities probabilities, Wins wins, bool exact, double cut) {
        const std::size_t classes = probabilities.shape(1);
        if (rows.shape(0) != probabilities.shape(0) || wins.shape(0) != rows.shape(0) ||
            wins.shape(1) != classes)
          throw std::invalid_argument("rows, probabilities and wins must have one length");
        if (!(cut >= 1.0 && cut <= sureleaf::classes::usual_cut))
          throw std::invalid_argument("the cut must be between 1 and 42");
        for (std::size_t i = 0; i < rows.shape(0); ++i) {
          if (rows.data()[i] < 0 || rows.data()[i] > max_rows)
            throw std::invalid_argument("a number of rows is out of range");
          check_distribution({probabilities.data() + i * classes, classes});
        }
        sureleaf::run([&](sureleaf::InterruptFlag& interrupt) {
          for (std::size_t i = 0; i < rows.shape(0); ++i) {
            interrupt.check();
            sureleaf::classes::win_probabilities(
                rows.data()[i], {probabilities.data() + i * classes, classes},
                {wins.data() + i * classes, classes}, exact, cut, interrupt);
          }
          return true;
        });
      },
      nb::arg("rows"), nb::arg("probabilities"), nb::arg("wins"), nb::arg("exact"),
      nb::arg("cut") = sureleaf::classes::usual_cut,
      "Fill wins[i, j] with the probability that class j is the most frequent of rows[i] draws: "
      "exact, or with an error below 1 / rows[i]^2 where the exact sum takes too long. Counts that "
      "have a probability below exp(-cut) are left out.");
}
