// Text columns: Python hands over Arrow's buffers, the loop runs without the GIL.
#include "sureleaf/texts.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
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
using Marks = nb::ndarray<bool, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Texts = nb::typed<nb::list, nb::str>;

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
  auto* new_indices = new std::vector<std::int64_t>;
  nb::capsule owner(new_indices,
                    [](void* p) noexcept { delete static_cast<decltype(new_indices)>(p); });
  {
    sureleaf::Unlocked unlocked;
    *new_indices = sureleaf::code_texts(texts, first, coder.known, {codes.data(), codes.shape(0)});
  }
  return Output(new_indices->data(), {new_indices->size()}, owner);
}

template <class Offset>
bool are_ascii(const Input<Offset>& offsets, const Input<std::uint8_t>& data) {
  const sureleaf::Unlocked unlocked;
  return sureleaf::are_ascii(std::span<const Offset>(offsets.data(), offsets.shape(0)),
                             {data.data(), data.shape(0)});
}

// Codes of the str objects of a NumPy array, and the different ones; none if there is another
// object among them. Objects are looked at, so the GIL stays.
std::optional<Texts> code_objects(const nb::handle& objects, const Codes& codes) {
  Py_buffer view;
  if (PyObject_GetBuffer(objects.ptr(), &view, PyBUF_RECORDS_RO) != 0) throw nb::python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&view, &PyBuffer_Release);
  if (view.ndim != 1 || view.shape[0] != static_cast<Py_ssize_t>(codes.shape(0)) ||
      view.itemsize != sizeof(PyObject*) || std::strcmp(view.format, "O") != 0)
    throw std::invalid_argument("one object per code is needed");
  sureleaf::TextCodes known;
  Texts distinct;
  for (std::size_t i = 0; i < codes.shape(0); ++i) {
    const auto offset = static_cast<Py_ssize_t>(i) * view.strides[0];
    PyObject* text = *reinterpret_cast<PyObject**>(static_cast<char*>(view.buf) + offset);
    if (text == nullptr || !PyUnicode_CheckExact(text)) return std::nullopt;
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    if (data == nullptr) {  // half of a character
      PyErr_Clear();
      return std::nullopt;
    }
    const auto n = static_cast<std::size_t>(size);
    codes.data()[i] = known.code_of({data, n, n + 1});  // and a zero behind it
    if (known.size() > distinct.size()) distinct.append(nb::handle(text));
  }
  return distinct;
}

// Codes by a table for indices, -1 for those below 0.
template <class Index>
void look_up(const Input<Index>& indices, const Input<std::int32_t>& new_codes,
             const Codes& codes) {
  if (indices.shape(0) != codes.shape(0))
    throw std::invalid_argument("one index per code is needed");
  const std::size_t n_rows = indices.shape(0), n = new_codes.shape(0);
  const Index* const from = indices.data();
  std::int32_t* const to = codes.data();
  Index largest = -1;
  for (std::size_t i = 0; i < n_rows; ++i) largest = std::max(largest, from[i]);
  if (largest >= 0 && static_cast<std::size_t>(largest) >= n)
    throw std::invalid_argument("an index has no code");
  bool stay = true;  // as they do where a table has the categories of the one before
  for (std::size_t c = 0; c < n; ++c) stay &= new_codes.data()[c] == static_cast<std::int32_t>(c);
  if (stay) {
    for (std::size_t i = 0; i < n_rows; ++i)
      to[i] = std::max<std::int32_t>(static_cast<std::int32_t>(from[i]), -1);
    return;
  }
  // Missing values have the entry before the first, so that the loop needs no branch.
  std::vector<std::int32_t> code_of(n + 1, -1);
  std::copy(new_codes.data(), new_codes.data() + n, code_of.begin() + 1);
  for (std::size_t i = 0; i < n_rows; ++i)
    to[i] = code_of[static_cast<std::size_t>(std::max<Index>(from[i], -1) + std::int64_t{1})];
}

// Marks the codes that occur; the search stops when all have been seen.
void mark_used(const Codes& codes, const Marks& is_used) {
  constexpr std::size_t block = 1024;
  const auto n = static_cast<std::int64_t>(is_used.shape(0));
  bool* const marks = is_used.data();
  bool missing = false;
  for (std::size_t first = 0; first < codes.shape(0); first += block) {
    const std::size_t end = std::min(codes.shape(0), first + block);
    for (std::size_t i = first; i < end; ++i) {
      const std::int32_t code = codes.data()[i];
      if (code >= n) throw std::invalid_argument("a code is too large");
      *(code < 0 ? &missing : marks + code) = true;
    }
    if (std::all_of(marks, marks + n, [](bool used) { return used; })) break;
  }
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
           "the indices of new texts.")
      .def("add", &add<std::int64_t>, "offsets"_a, "data"_a, "validity"_a.none(), "first"_a,
           "codes"_a);
  module.def("are_ascii", &are_ascii<std::int32_t>, "offsets"_a, "data"_a,
             "Whether texts in Arrow's buffers are ASCII, with offsets that ascend in the data.");
  module.def("are_ascii", &are_ascii<std::int64_t>, "offsets"_a, "data"_a);
  module.def("code_objects", &code_objects, "objects"_a, "codes"_a,
             "Code the str objects of an array; returns the different ones in the order in which "
             "they first come, or None if there are other objects.");
  const char* look_up_does = "Give each index its new code, -1 where it is below 0.";
  module.def("look_up", &look_up<std::int8_t>, "indices"_a, "new_codes"_a, "codes"_a, look_up_does);
  module.def("look_up", &look_up<std::int16_t>, "indices"_a, "new_codes"_a, "codes"_a);
  module.def("look_up", &look_up<std::int32_t>, "indices"_a, "new_codes"_a, "codes"_a);
  module.def("look_up", &look_up<std::int64_t>, "indices"_a, "new_codes"_a, "codes"_a);
  module.def("mark_used", &mark_used, "codes"_a, "is_used"_a, "Mark the codes that occur.");
  module.def("recode", &recode, "codes"_a, "new_codes"_a,
             "Replace each code by its new one; those below 0 stay.");
}
