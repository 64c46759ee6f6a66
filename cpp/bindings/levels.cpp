// Arrays of levels: shapes are settled in Python, the loops run here without the GIL.
#include "parts.hpp"

void bind_levels(nanobind::module_&) {}
