#pragma once
// Reports, looked into: they are well-formed XML, so that what stands where can be asked.

#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <set>
#include <string>

namespace titer::testing {

/// A report as a tree; a failure where it is no well-formed XML or an identifier is not unique.
class Report {
 public:
  explicit Report(const std::string& html) : html_(html) {
    const pugi::xml_parse_result parsed =
        tree_.load_buffer(html.data(), html.size(), pugi::parse_full | pugi::parse_ws_pcdata);
    EXPECT_TRUE(parsed) << parsed.description() << " at "
                        << html.substr(static_cast<std::size_t>(
                                           std::max<std::ptrdiff_t>(0, parsed.offset - 40)),
                                       80);
    std::set<std::string> known;
    for (const pugi::xpath_node& node : tree_.select_nodes("//@id")) {
      EXPECT_TRUE(known.insert(node.attribute().value()).second) << node.attribute().value();
    }
  }

  [[nodiscard]] const std::string& html() const { return html_; }
  [[nodiscard]] std::size_t count(const char* xpath) const {
    return tree_.select_nodes(xpath).size();
  }
  /// The words of the first element; "" where there is none.
  [[nodiscard]] std::string words(const char* xpath) const {
    const pugi::xml_node node = tree_.select_node(xpath).node();
    std::string text;
    for (const pugi::xpath_node& piece : node.select_nodes(".//text()")) {
      text += piece.node().value();
    }
    return text;
  }

 private:
  std::string html_;
  pugi::xml_document tree_;
};

}  // namespace titer::testing
