// Text columns: Python hands over Arrow's buffers, the loop runs without the GIL.
#include "sureleaf/texts.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "gil.hpp"
#include "parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using Codes = nb::ndarray<std::int32_t, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct TextCoder {
  sureleaf::TextCodes known;
  std::vector<nb::object> kept;  // the data that known texts lie in
};

template <class Offset>
Output add(TextCoder& coder, const Input<Offset>& offsets, const Input<std::uint8_t>& data,
           const std::optional<Input<std::uint8_t>>& validity, std::size_t first,
           const Codes& codes) {
  coder.kept.push_back(nb::cast(data));
  sureleaf::Texts<Offset> texts{{offsets.data(), offsets.shape(0)},
                                {reinterpret_cast<const char*>(data.data()), data.shape(0)},
                                {}};
  if (validity) texts.validity = {validity->data(), validity->shape(0)};
  auto* places = new std::vector<std::int64_t>;
  nb::capsule owner(places, [](void* p) noexcept { delete static_cast<decltype(places)>(p); });
  {
    sureleaf::Unlocked unlocked;
    *places = sureleaf::code_texts(texts, first, coder.known, {codes.data(), codes.shape(0)});
  }
  return Output(places->data(), {places->size()}, owner);
}

void recode(const Codes& codes, const Input<std::int32_t>& new_codes) {
  const auto n = static_cast<std::int64_t>(new_codes.shape(0));
  const std::int32_t* from = new_codes.data();
  std::int32_t* to = codes.data();
  for (std::size_t i = 0; i < codes.shape(0); ++i) {
    if (to[i] >= n) throw std::invalid_argument("a code has no new code");
    if (to[i] >= 0) to[i] = from[to[i]];
  }
}

}  // namespace

void bind_texts(nb::module_& module) {
  nb::class_<TextCoder>(module, "TextCoder", "Gives equal texts equal codes, over many arrays.")
      .def(nb::init<>())
      .def("add", &add<std::int32_t>, "offsets"_a, "data"_a, "validity"_a.none(), "first"_a,
           "codes"_a,
           "Code texts first, first + 1, ... of Arrow's buffers, -1 where there is none; returns "
           "the "
           "places of those that are new.")
      .def("add", &add<std::int64_t>, "offsets"_a, "data"_a, "validity"_a.none(), "first"_a,
           "codes"_a);
  module.def("recode", &recode, "codes"_a, "new_codes"_a,
             "Replace each code by its new one; those below 0 stay.");
}
