// Probabilities to win among K classes: Python settles shapes and values, the loop runs without
// the GIL.
#include "sureleaf/classes.hpp"

#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>

#include "gil.hpp"
#include "parts.hpp"

namespace nb = nanobind;

using Rows = nb::ndarray<const std::int64_t, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Probabilities =
    nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Wins = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_classes(nb::module_& module) {
  module.def(
      "plurality",
      [](Rows rows, Probabilities probabilities, Wins wins) {
        const std::size_t classes = probabilities.shape(1);
        if (rows.shape(0) != probabilities.shape(0) || wins.shape(0) != rows.shape(0) ||
            wins.shape(1) != classes)
          throw std::invalid_argument("rows, probabilities and wins must have one length");
        sureleaf::Unlocked unlocked;
        for (std::size_t i = 0; i < rows.shape(0); ++i)
          sureleaf::classes::win_probabilities(rows.data()[i],
                                               {probabilities.data() + i * classes, classes},
                                               {wins.data() + i * classes, classes});
      },
      nb::arg("rows"), nb::arg("probabilities"), nb::arg("wins"),
      "Fill wins[i, j] with the probability that class j is the most frequent of rows[i] draws.");
}
