#pragma once
// Functions about files: what was measured, and what other programs trained.

namespace pybind11 {
class module_;
}

namespace titer::python {

/// Puts validate, trace, calibrate and import_run into the module.
void add_files(pybind11::module_& module);

}  // namespace titer::python
