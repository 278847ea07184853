#pragma once
// What every question has: a file or a document, with changes; and what every answer is.

#include <string>
#include <variant>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/input/input_error.hpp"  // which questions throw
#include "titer/view/view.hpp"

namespace titer {

/// One of a table by which a request is asked: titer/ask/option.hpp, for who reads requests.
template <class R>
struct Option;

/// What a question is about: the name of what is shipped, a file (which has a slash, or ends in
/// ".json"), or a document; and the values to put into it first.
struct Asked {
  std::variant<std::string, Document> what;
  std::vector<Assignment> changes = {};
};

struct Answer {
  View view;
  /// Whether it is what was hoped for: that something fits in memory, or is found.
  bool good = true;
  /// What the program met of its own defects, a line each: its figures are without that.
  std::vector<std::string> defects = {};
};

/// An answer that may be a picture, too, or be a picture alone.
struct PictureOutcome : Answer {
  std::string picture = {};
  std::vector<std::string> notes = {};  // which stand in no picture, nor in long tables
};

}  // namespace titer
