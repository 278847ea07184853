#pragma once
// What the writers of models in this program's own keys share.

#include <string>
#include <utility>

#include "titer/input/document.hpp"

namespace titer {

/// Adds a member unless it has its default.
template <class T>
void add_unless(Value& object, std::string key, const T& value, const T& otherwise) {
  if (value != otherwise) {
    object.add(std::move(key), Value(value));
  }
}

}  // namespace titer
