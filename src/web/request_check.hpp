#pragma once
// What may not stand in a question that comes from elsewhere.

#include "titer/input/document.hpp"

namespace titer {

/// Throws InputError where something would be read from a file: names alone are looked up among
/// what is shipped.
void refuse_files(const Document& request);

}  // namespace titer
