#pragma once
// Every question: what is asked by a document instead of by its request.

#include <atomic>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "titer/ask/asked.hpp"

namespace titer {

struct OptionWords;  // titer/ask/option.hpp, for who reads requests

/// How a question may be answered.
struct AnswerLimits {
  unsigned threads = 1;
  bool may_read_files = true;               // those that the question names; what is shipped always
  const std::atomic<bool>* stop = nullptr;  // set: what was found until then is the answer
  bool for_report = false;                  // with what reports alone show
  /// Told how much of what a question counts is done.
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};

struct Question {
  std::string_view name;  // "collective", as the program's subcommand
  std::vector<OptionWords> (*options)() = nullptr;
  Answer (*answer)(const Document& question, const AnswerLimits& limits) = nullptr;
};
[[nodiscard]] std::span<const Question> questions();

/// Answers {"question": "collective", …}. Throws InputError.
[[nodiscard]] Answer ask(const Document& question, const AnswerLimits& limits = {});

/// Throws InputError with a line for each option that names a file which is not shipped.
void refuse_named_files(std::span<const OptionWords> options, const Document& question);

}  // namespace titer
