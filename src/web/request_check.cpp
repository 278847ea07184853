#include "request_check.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "titer/input/reader.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Whose texts are for people, and are read by nothing.
constexpr std::array<std::string_view, 7> kWords = {
    "source", "sources", "notes", "title", "$schema", "_name_or_path", "name_or_path"};
/// What files end in that a scenario may name.
constexpr std::array<std::string_view, 2> kEndings = {".json", ".csv"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// "25 GB/s", "1.5e3 Gbit/s": a number, a unit over another, and nothing else.
bool is_rate(std::string_view text) {
  const std::size_t number = text.find_first_not_of("0123456789.+-eE");
  if (number == 0 || number == text.npos) {
    return false;
  }
  text.remove_prefix(number);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::size_t slash = text.find('/');
  const std::string_view over = text.substr(0, slash);
  const std::string_view under = slash == text.npos ? "" : text.substr(slash + 1);
  return !over.empty() && !under.empty() && std::ranges::all_of(over, is_letter) &&
         std::ranges::all_of(under, is_letter);
}

bool means_file(std::string_view text) {
  const bool ends_so = std::ranges::any_of(
      kEndings, [&](std::string_view ending) { return text.ends_with(ending); });
  return ends_so || (text.find('/') != text.npos && !is_rate(text));
}

void look_at(const Document& request,
             const Value& value,
             const std::string& path,
             std::vector<std::string>& problems) {
  const auto refuse = [&](const Value& what) {
    const std::string where = request.where(what.origin);
    problems.push_back((where.empty() ? "" : where + ": ") + path +
                       ": expected a name of shipped data, or what the file holds: no file is read "
                       "here");
  };
  if (value.kind == Value::Kind::text && means_file(value.text)) {
    refuse(value);
  }
  for (const Value& item : value.items) {
    look_at(request, item, path, problems);
  }
  for (const auto& [key, member] : value.members) {
    const std::string inner = join_path(path, key);
    if (key == "file") {
      problems.push_back(inner + ": no file is read here");
    } else if (!includes(kWords, key)) {
      look_at(request, member, inner, problems);
    }
  }
}

}  // namespace

void refuse_files(const Document& request) {
  std::vector<std::string> problems;
  look_at(request, request.root, "", problems);
  if (!problems.empty()) {
    throw InputError(std::move(problems));
  }
}

}  // namespace titer
