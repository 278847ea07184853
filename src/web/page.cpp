#include "titer/web/page.hpp"

#include <array>
#include <utility>

#include "titer/view/html.hpp"
#include "web/page_parts.hpp"

namespace titer {
namespace {

/// A place in the page, and what goes there.
using Part = std::pair<std::string_view, std::string>;

void put(std::string& page, const Part& part) {
  const std::string mark = "@" + std::string(part.first) + "@";
  page.replace(page.find(mark), mark.size(), part.second);
}

/// Whoever answers in the page itself may compile WebAssembly in workers, and asks nobody.
std::string_view policy_with_workers() {
  return "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' "
         "'wasm-unsafe-eval' blob:; worker-src blob:; img-src data:; form-action 'none'; base-uri "
         "'none'";
}

}  // namespace

std::string_view web_page_policy() {
  // Nothing from elsewhere; questions go to where the page came from.
  return "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
         "'self'; img-src data:; form-action 'none'; base-uri 'none'";
}

std::string web_page(std::string_view asker) {
  std::string page(page_html());
  const std::array<Part, 4> parts = {
      {{"policy", std::string(asker.empty() ? web_page_policy() : policy_with_workers())},
       {"style", html_style() + std::string(page_css())},
       {"asker", asker.empty() ? "" : "<script>" + std::string(asker) + "</script>\n"},
       {"script", std::string(page_js())}}};
  for (const Part& part : parts) {
    put(page, part);
  }
  return page;
}

}  // namespace titer
