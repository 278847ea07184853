#pragma once
// The runs beside the one that a capacity question is about, as its file has them.

#include <string_view>
#include <vector>

#include "campaign/course_document.hpp"
#include "titer/campaign/capacity.hpp"

namespace titer {

struct WrittenOtherRuns : WrittenPart {
  double tokens = 0;
  std::int64_t count = 1;
};

/// `document`: of the question.
[[nodiscard]] std::vector<WrittenOtherRuns> read_other_runs(std::string_view key,
                                                            Reader& in,
                                                            const Document& document);
[[nodiscard]] Value other_runs_schema();

/// What they take. Throws InputError where one cannot be trained, or has other devices than the
/// question.
[[nodiscard]] OtherRuns load_other_runs(const WrittenOtherRuns& runs,
                                        const CapacityQuestion& question);

}  // namespace titer
