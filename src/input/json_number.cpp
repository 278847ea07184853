#include "json_number.hpp"

namespace titer {
namespace {

/// Goes over one of the bytes, if it is next.
bool take_one(std::string_view text, std::size_t& at, std::string_view bytes) {
  const bool is_next = at < text.size() && bytes.find(text[at]) != bytes.npos;
  at += is_next ? 1 : 0;
  return is_next;
}

/// Goes over digits; whether there are any.
bool take_digits(std::string_view text, std::size_t& at) {
  const std::size_t from = at;
  at = text.find_first_not_of("0123456789", at);
  at = at == text.npos ? text.size() : at;
  return at > from;
}

}  // namespace

std::size_t json_number_length(std::string_view text) {
  std::size_t at = 0;
  static_cast<void>(take_one(text, at, "-"));
  if (!take_one(text, at, "0") && !take_digits(text, at)) {
    return 0;
  }
  std::size_t end = at;  // of what is a number without what may follow
  if (take_one(text, at, ".")) {
    end = take_digits(text, at) ? at : end;
    at = end;
  }
  if (take_one(text, at, "eE")) {
    static_cast<void>(take_one(text, at, "+-"));
    end = take_digits(text, at) ? at : end;
  }
  return end;
}

}  // namespace titer
