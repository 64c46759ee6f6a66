// The compiled module: each part binds one header and checks what comes from Python.
#include <nanobind/nanobind.h>

#include "parts.hpp"

NB_MODULE(_core, module) {
#ifdef NDEBUG
  nanobind::set_leak_warnings(false);  // a thread that Python has outrun keeps what it works on
#endif
  module.doc() = "Sureleaf's hot loops; use them through sureleaf._kernel.";
  bind_classes(module);
  bind_coding(module);
  bind_levels(module);
  bind_texts(module);
  bind_tree(module);
}
