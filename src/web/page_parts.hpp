#pragma once
// The files of src/web/page, as the build puts them into the program.

#include <string_view>

namespace titer {

[[nodiscard]] std::string_view page_html();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();

}  // namespace titer
