// Arrays of levels: shapes are settled in Python, the loops run here without the GIL.
#include "sureleaf/levels.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>

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
  {
    sureleaf::Unlocked unlocked;
    for (std::size_t i = 0; i < size; ++i) values[i] = formula(first.data()[i], rest.data()[i]...);
  }
  double* data = values.get();
  nb::capsule owner(values.release(),
                    [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return Output(data, first.ndim(), reinterpret_cast<const std::size_t*>(first.shape_ptr()), owner);
}

}  // namespace

void bind_levels(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "confidence",
      [](const Input& n, const Input& p_max) {
        return elementwise(sureleaf::confidence, n, p_max);
      },
      "n"_a, "p_max"_a);
  module.def(
      "node_confidence",
      [](const Input& n, const Input& share, const Input& p_max, bool empty_is_coin) {
        const auto formula = [=](double rows, double part, double p) {
          return sureleaf::node_confidence(rows, part, p, empty_is_coin);
        };
        return elementwise(formula, n, share, p_max);
      },
      "n"_a, "share"_a, "p_max"_a, "empty_is_coin"_a);
  module.def(
      "entropic_estimate",
      [](const Input& y_max, const Input& n) {
        return elementwise(sureleaf::entropic_estimate, y_max, n);
      },
      "y_max"_a, "n"_a);
  module.def(
      "log_binomial",
      [](const Input& y, const Input& n, const Input& p) {
        return elementwise(sureleaf::log_binomial, y, n, p);
      },
      "y"_a, "n"_a, "p"_a);
}
