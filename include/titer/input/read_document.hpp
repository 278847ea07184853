#pragma once

#include "titer/input/reader.hpp"

namespace titer {

/// What `read`, a function of a Reader, makes of the whole document. Throws InputError with all
/// that is wrong in it.
template <class Read>
[[nodiscard]] auto read_document(const Document& document, const Read& read) {
  Problems problems;
  Reader in(document, problems);
  auto made = read(in);
  problems.raise();
  return made;
}

}  // namespace titer
