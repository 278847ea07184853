#include "titer/measured/run_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "measured/cells/cell_number.hpp"
#include "titer/input/words.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

/// Whether a word of the text begins with this one.
bool begins_word(std::string_view text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != std::string_view::npos;
       at = text.find(beginning, at + 1)) {
    if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) {
      return true;
    }
  }
  return false;
}

/// Without what stands in brackets, but for parts of chips.
std::string without_brackets(const std::string& name) {
  static const std::regex brackets(R"(\((?![^)]*(?:core|gcd|tile|half))[^)]*\))");
  return std::regex_replace(lower(name), brackets, "");
}

/// Without makers and lines of products, kinds of memory and of modules: "NVIDIA H100 80GB HBM3",
/// "AMD Instinct MI300X OAM", "GeForce RTX 4090".
std::string bare_chip(const std::string& name) {
  static const std::regex others(
      R"((?:^|[ -])(?:nvidia|geforce|tesla|amd|instinct|radeon|intel|google|cloud|aws|huawei|oam|gpus?|hbm\d?e?)(?=$|[ -]))");
  return plain_words(std::regex_replace(without_brackets(name), others, ""));
}

/// Of families: with "_" for blanks and "-".
std::string joined_words(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

/// Whether a row has a part's word in its column, or as a number its number; of a chip also as it
/// is called here.
bool says(const RunRow& row, const RunFamily& part, const std::string& chip) {
  const auto number = number_of_text<double>(part.word);
  if (number && row.has(part.column) && needs_number(part.column)) {
    return row.number(part.column) == number;
  }
  const std::string more = part.column == "hw_key" ? "|" + plain_words(chip) : "";
  return (row.plain(part.column) + more).find(part.word) != std::string::npos;
}

/// Words of a chip without how it is mounted.
std::vector<std::string> without_mount(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) { return word.starts_with("sxm"); });
  return words;
}

/// Of software that a row names: its family's where that is the same program, or the stack of just
/// that name. A program may be called as one is but for capital letters, and be another by its
/// chip.
std::string stack_of(const std::string& software,
                     const std::string& stated,
                     const std::string& of_family) {
  const bool is_of_family =
      !of_family.empty() && plain_words(software).find(plain_words(of_family)) != std::string::npos;
  if (software.empty() || is_of_family) {
    return of_family;
  }
  return is_shipped(kStackData, software) ? software : stated;
}

}  // namespace

std::vector<std::string> chip_words(const std::string& name) {
  static const std::regex others(
      R"(^\d+ ?x ?|tensor core|\b(?:nvidia|geforce|tesla|amd|instinct|intel|google|cloud|aws|[dh]gx|accelerator|superchip|grace hopper|oam|gpus?|chips?|hbm\d?e?|ls)\b)");
  static const std::regex memory(R"(\b(\d{2,3}) ?gb?\b)");
  std::string text = lower(name);
  std::ranges::replace_if(
      text,
      [](char c) { return std::string_view("-_/,()").find(c) != std::string_view::npos; },
      ' ');
  text = std::regex_replace(std::regex_replace(text, others, " "), memory, "$1gb");
  std::vector<std::string> words;
  for (const std::string_view word : words_of(text)) {
    words.emplace_back(word);
  }
  std::ranges::sort(words);
  return words;
}

const RunFamily* RunFamilies::family_named(const std::string& name) const {
  for (const File& file : files_) {
    const std::pair<std::string, RunFamily>* longest = nullptr;
    for (const auto& known : file.families) {
      if (joined_words(name).starts_with(joined_words(known.first)) &&
          (longest == nullptr || known.first.size() > longest->first.size())) {
        longest = &known;
      }
    }
    if (longest != nullptr) {
      return &longest->second;
    }
  }
  return nullptr;
}

const RunFamily* RunFamilies::software_in(const std::string& text) const {
  std::string small = lower(text);
  std::ranges::replace(small, '_', '-');
  const auto first = [&](const auto& is_in) -> const RunFamily* {
    for (const File& file : files_) {
      const auto known =
          std::ranges::find_if(file.software, [&](const auto& one) { return is_in(one.first); });
      if (known != file.software.end()) {
        return &known->second;
      }
    }
    return nullptr;
  };
  // "Nemotron" is no NeMo where another word is one.
  const RunFamily* whole = first([&](const std::string& word) { return holds_word(small, word); });
  return whole != nullptr
             ? whole
             : first([&](const std::string& word) { return begins_word(small, word); });
}

const RunFamily* RunFamilies::software_of(const RunRow& row) const {
  const std::string notes = row.text("notes");
  const std::string program = notes.substr(0, notes.find(';'));  // that notes name first
  // What others' tables compare themselves with: "Megatron-LM e156d2f".
  static const std::regex compared("^(?:megatron-lm|deepspeed)\\b|baseline");
  const std::string held_against = std::regex_search(lower(program), compared) ? program : "";
  for (const std::string& text : {held_against,
                                  program + "; " + row.text("source"),
                                  notes,
                                  row.text("family"),
                                  row.text("dp_kind")}) {
    if (const RunFamily* known = software_in(text)) {
      return known;
    }
  }
  return nullptr;
}

void RunFamilies::overlay_models(const RunRow& row, RunHabits& habits) const {
  const std::string name = row.plain("model_name");
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    for (const auto& [word, model] : file->models) {
      if (name.find(word) != std::string::npos) {
        overlay(model, row, habits);
      }
    }
  }
}

void RunFamilies::overlay_machines(const RunRow& row, RunHabits& habits) const {
  const std::string text = lower(fmt::format(
      "{} {} {} {}", row.text("hw_key"), row.text("chip"), row.text("inter_link"), habits.chip));
  const std::string notes = lower(row.text("notes"));
  RunHabits noted;  // of a machine that only the notes name
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    for (const auto& [word, machine] : file->machines) {
      if (text.find(word) != std::string::npos) {
        overlay(machine, row, habits);
      } else if (holds_word(notes, word) && !machine.habits.network.empty()) {
        noted = machine.habits;
      }
    }
  }
  if (habits.network.empty()) {
    habits.network = noted.network;
    habits.transport = row.has("inter_link") ? habits.transport : noted.transport;
  }
}

std::string RunFamilies::chip_of(const RunRow& row) const {
  const std::string called = row.text("hw_key");
  for (const std::string& name : {plain_words(called), bare_chip(called)}) {
    const auto known = std::ranges::find(chips_, name, &ChipName::plain);
    if (known != chips_.end()) {
      return known->chip;
    }
  }
  const std::vector<std::string> all = chip_words(called);
  const std::vector<std::string> few = chip_words(without_brackets(called));
  for (const auto& some : {all, without_mount(all), few, without_mount(few)}) {
    const auto known = std::ranges::find(chips_, some, &ChipName::words);
    if (known != chips_.end() && !some.empty()) {
      return known->chip;
    }
  }
  return "";
}

void RunFamilies::overlay(const RunFamily& family, const RunRow& row, RunHabits& habits) const {
  if (const RunFamily* like = family.like.empty() ? nullptr : family_named(family.like)) {
    overlay(*like, row, habits);
  }
  put_over(family.habits, habits);
  for (const RunFamily& part : family.where) {
    if (says(row, part, habits.chip)) {
      overlay(part, row, habits);
    }
  }
}

RunHabits RunFamilies::habits_of(const RunRow& row) const {
  RunHabits habits{.chip = chip_of(row)};
  overlay_models(row, habits);
  overlay_machines(row, habits);
  const RunFamily* family = family_named(lower(row.text("family")));
  const std::string software = row.text("software");
  const RunFamily* named = software_in(software);
  if (named == nullptr && family == nullptr) {
    named = software.empty() ? software_of(row) : software_in(row.text("dp_kind"));
  }
  if (named != nullptr) {
    overlay(*named, row, habits);
  }
  const std::string stated = habits.stack;
  if (family != nullptr) {
    overlay(*family, row, habits);
  }
  habits.stack = stack_of(software, stated, habits.stack);
  if (row.has("stack")) {
    habits.stack = row.text("stack");
  }
  if (row.has("cluster")) {
    habits.cluster = row.text("cluster");
  }
  if (habits.stack.empty()) {
    throw InputError(software.empty()
                         ? fmt::format("software of family \"{}\" is not known", row.text("family"))
                         : fmt::format("software \"{}\" is not known", software));
  }
  // A file is found from the table's folder first.
  const auto find = [&](const DataKind& kind, std::string& name) {
    name = looks_like_file(name) ? data_file(kind, name, folder_).string() : name;
  };
  find(kStackData, habits.stack);
  find(kClusterData, habits.cluster);
  find(kNetworkData, habits.transport);
  return habits;
}

}  // namespace titer
