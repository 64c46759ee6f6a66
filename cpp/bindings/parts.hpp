#pragma once

#include <nanobind/nanobind.h>

void bind_levels(nanobind::module_& module);
void bind_tree(nanobind::module_& module);
