// Arrays of levels: shapes are settled in Python, the loops run here without the GIL.
#include "sureleaf/levels.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "gil.hpp"
#include "parts.hpp"
#include "sureleaf/binomial.hpp"

namespace nb = nanobind;

namespace {

using Input = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::numpy, double, nb::c_contig>;

bool same_shape(const Input& a, const Input& b) {
  if (a.ndim() != b.ndim()) return false;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis)
    if (a.shape(axis) != b.shape(axis)) return false;
  return true;
}

// A new array of formula(first[i], rest[i]...), of the one shape that all inputs must have.
template <typename Formula, typename... Inputs>
Output elementwise(Formula formula, const Input& first, const Inputs&... rest) {
  if (!(same_shape(first, rest) && ...)) throw nb::value_error("arrays must have one shape");
  const std::size_t size = first.size();
  auto values = std::make_unique_for_overwrite<double[]>(size);
  sureleaf::run([&](sureleaf::InterruptFlag& interrupt) {
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 64 == 0) interrupt.check();
      values[i] = formula(first.data()[i], rest.data()[i]...);
    }
    return true;
  });
  double* data = values.get();
  nb::capsule owner(values.release(),
                    [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return Output(data, first.ndim(), reinterpret_cast<const std::size_t*>(first.shape_ptr()), owner);
}

// The formulas take their arguments as checked: numbers of rows and probabilities, or NaN.
void check_range(const Input& values, double high, const char* name) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values.data()[i] < 0.0 || values.data()[i] > high)
      throw std::invalid_argument(std::string(name) + " is out of range");
}
constexpr double any_number = std::numeric_limits<double>::infinity();

}  // namespace

void bind_levels(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "confidence",
      [](const Input& n, const Input& p_max) {
        check_range(n, any_number, "n");
        check_range(p_max, 1.0, "p_max");
        return elementwise(sureleaf::confidence, n, p_max);
      },
      "n"_a, "p_max"_a);
  module.def(
      "node_confidence",
      [](const Input& n, const Input& share, const Input& p_max, bool empty_is_coin) {
        check_range(n, any_number, "n");
        check_range(share, 1.0, "share");
        check_range(p_max, 1.0, "p_max");
        const auto formula = [=](double rows, double part, double p) {
          return sureleaf::node_confidence(rows, part, p, empty_is_coin);
        };
        return elementwise(formula, n, share, p_max);
      },
      "n"_a, "share"_a, "p_max"_a, "empty_is_coin"_a);
  module.def(
      "entropic_estimate",
      [](const Input& y_max, const Input& n) {
        check_range(y_max, any_number, "y_max");
        check_range(n, any_number, "n");
        return elementwise(sureleaf::entropic_estimate, y_max, n);
      },
      "y_max"_a, "n"_a);
  module.def(
      "log_binomial",
      [](const Input& y, const Input& n, const Input& p) {
        check_range(y, any_number, "y");
        check_range(n, any_number, "n");
        check_range(p, 1.0, "p");
        return elementwise(sureleaf::log_binomial, y, n, p);
      },
      "y"_a, "n"_a, "p"_a);
}
