#pragma once

#include <nanobind/nanobind.h>

void bind_classes(nanobind::module_& module);
void bind_coding(nanobind::module_& module);
void bind_levels(nanobind::module_& module);
void bind_texts(nanobind::module_& module);
void bind_tree(nanobind::module_& module);
