// Numbers of a batch of rows. Shapes are checked here, and the work runs without the GIL.
#include "sureleaf/coding.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumberTable = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Codes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T> give(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner);
}

std::span<const double> view(const Numbers& numbers) { return {numbers.data(), numbers.shape(0)}; }

std::optional<nb::ndarray<nb::numpy, double>> few_values(const Numbers& column,
                                                         const std::optional<Flags>& is_counted) {
  if (is_counted && is_counted->shape(0) != column.shape(0))
    throw std::invalid_argument("one flag per row is needed");
  std::vector<double> values;
  bool are_few = false;
  {
    const nb::gil_scoped_release released;
    std::span<const std::uint8_t> counted;
    if (is_counted) counted = {is_counted->data(), is_counted->shape(0)};
    are_few = sureleaf::find_few_values(view(column), counted, values);
  }
  if (!are_few) return std::nullopt;
  return give(std::move(values));
}

nb::ndarray<nb::numpy, std::uint64_t> hash_rows(const NumberTable& table) {
  const std::size_t n_rows = table.shape(0);
  std::vector<std::uint64_t> hashes(n_rows, 0);
  {
    const nb::gil_scoped_release released;
    for (std::size_t j = 0; j < table.shape(1); ++j)
      sureleaf::mix_hashes({table.data() + j * n_rows, n_rows}, hashes);
    sureleaf::finish_hashes(hashes);
  }
  return give(std::move(hashes));
}

void code_numbers(const Numbers& column, const Numbers& values, const Codes& codes,
                  std::size_t position) {
  if (codes.shape(0) != column.shape(0) || position >= codes.shape(1))
    throw std::invalid_argument("codes must have the rows of the column");
  if (values.shape(0) > sureleaf::max_small_codes)
    throw std::invalid_argument("a column has more than 255 codes");
  const nb::gil_scoped_release released;
  sureleaf::code_numbers(view(column), view(values), codes.data() + position, codes.shape(1));
}

}  // namespace

void bind_coding(nb::module_& module) {
  module.def("few_values", &few_values, "column"_a, "is_counted"_a.none() = nb::none(),
             "The distinct values of a column, ascending; None if they are more than 255.");
  module.def("hash_rows", &hash_rows, "table"_a, "A hash of the numbers of each row.");
  module.def("code_numbers", &code_numbers, "column"_a, "values"_a, "codes"_a, "position"_a,
             "Write the code of each number into a column of `codes`.");
}
