#include "text_file.hpp"

#include <algorithm>
#include <array>

#include "titer/input/file.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

bool is_digit_of_name(char c) { return c >= '0' && c <= '9'; }

/// The number that a text begins with, without the zeros before it; the text goes on behind it.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit_of_name);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Of two numbers without zeros before them.
bool digits_are_less(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

std::string file_text(const std::string& path) {
  std::string text = read_text(path);
  if (text.empty()) {
    throw InputError(path + ": is empty; expected a file with a topology");
  }
  return text;
}

std::vector<std::string> text_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size() - 1);
    } else if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      if (!word.empty()) {
        words.push_back(std::move(word));
      }
      word.clear();
    } else {
      word += line[i];
    }
  }
  if (!word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

void refuse_line(std::string_view source, int line, const std::string& what) {
  throw InputError(std::string(source) + ":" + std::to_string(line) + ": " + what);
}

BytesPerSecond use_figure(std::string_view program,
                          std::string_view source,
                          std::string_view key,
                          std::optional<BytesPerSecond> figure,
                          std::vector<std::string>& used) {
  if (!figure) {
    throw InputError(std::string(source) + ": " + std::string(program) +
                     " says no bandwidths; expected " + std::string(key) + ", such as \"25 GB/s\"");
  }
  if (!includes(used, key)) {
    used.emplace_back(key);
  }
  return *figure;
}

bool before_by_number(std::string_view a, std::string_view b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (is_digit_of_name(left.front()) && is_digit_of_name(right.front())) {
      const std::string_view x = take_digits(left);
      const std::string_view y = take_digits(right);
      if (x != y) {
        return digits_are_less(x, y);
      }
    } else if (left.front() != right.front()) {
      return left.front() < right.front();
    } else {
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.empty() != right.empty() ? left.empty() : a < b;
}

std::optional<std::string_view> machine_family(std::string_view text) {
  struct FamilyOfText {
    std::string_view family;
    bool (*is_it)(std::string_view);
  };
  // The tables of rocm-smi begin as the matrix of nvidia-smi does.
  constexpr std::array<FamilyOfText, 6> families = {{{NcclXmlNode::name, is_xml},
                                                     {RocmSmiNode::name, is_rocm_smi},
                                                     {NvidiaSmiNode::name, is_nvidia_smi},
                                                     {IbNetwork::name, is_ibnetdiscover},
                                                     {InfraGraph::name, is_infragraph},
                                                     {SlurmNetwork::name, is_slurm_topology}}};
  if (trimmed(text).starts_with('{') || trimmed(text).starts_with('[')) {
    return std::nullopt;  // JSON may hold any text
  }
  const auto* found =
      std::ranges::find_if(families, [&](const FamilyOfText& one) { return one.is_it(text); });
  return found == families.end() ? std::nullopt : std::optional(found->family);
}

std::optional<Document> machine_document(const std::filesystem::path& path) {
  const auto family = machine_family(read_text(path));
  if (!family) {
    return std::nullopt;
  }
  Document document;
  document.sources = {path.string()};
  document.root = Value::make_object();
  document.root.add("family", Value(*family)).add("file", Value(path.string()));
  return document;
}

}  // namespace titer
