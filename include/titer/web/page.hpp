#pragma once
// The page that asks: one HTML file, whoever answers it.

#include <string>
#include <string_view>

namespace titer {

/// With a script that comes before the page's own and may define `titerAsk(request)`, which takes a
/// question and promises its answer; without, the page posts questions to "ask" beside it.
[[nodiscard]] std::string web_page(std::string_view asker = {});

/// What the page may do, for the header Content-Security-Policy.
[[nodiscard]] std::string_view web_page_policy();

}  // namespace titer
