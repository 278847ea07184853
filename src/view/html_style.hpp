#pragma once
// How reports look, and the little that they do by themselves: the files of src/view/report, as the
// build puts them into the program. Neither has a character that would have to be written out in
// XML.

#include <string_view>

namespace titer {

[[nodiscard]] std::string_view report_style();
/// Words of marks at the pointer or, by the arrow keys, of a chart in focus; large pictures larger.
[[nodiscard]] std::string_view report_script();

}  // namespace titer
