// What the page calls of the library: a question answered, and the page itself.
#include <chrono>
#include <exception>
#include <string>

#include "titer/web/answer.hpp"
#include "titer/web/page.hpp"

namespace {

/// Stays until the next call.
std::string& result() {
  static std::string text;
  return text;
}

}  // namespace

extern "C" {

/// JSON, as `titer ask` prints it. A search that is late answers with what it has found so far.
const char* titer_answer(const char* question, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const titer::WebLimits limits{
      .is_late = [end] { return std::chrono::steady_clock::now() > end; }};
  try {
    result() = titer::to_json(titer::web_answer(question, "question", limits), 0);
  } catch (const std::exception& error) {
    titer::Value lines = titer::Value::make_array();
    lines.push(std::string(error.what()));
    titer::Value answer = titer::Value::make_object();
    answer.add("errors", std::move(lines));
    result() = titer::to_json(answer, 0);
  }
  return result().c_str();
}

const char* titer_page(const char* asker) {
  result() = titer::web_page(asker);
  return result().c_str();
}
}
