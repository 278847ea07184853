#include "shell_branches.hpp"

#include <algorithm>

#include "titer/units/lists.hpp"

namespace titer::shell {
namespace {

bool is_same(const Variable* a, const Variable* b) {
  if (a == nullptr || b == nullptr) {
    return a == b;
  }
  return a->is_array == b->is_array && !a->depends_on && !b->depends_on &&
         std::equal(a->items.begin(),
                    a->items.end(),
                    b->items.begin(),
                    b->items.end(),
                    [](const Text& x, const Text& y) { return x.chars == y.chars; });
}

/// Not set, or nothing but blanks.
bool says_nothing(const Variable* variable) {
  return variable == nullptr ||
         (!variable->depends_on && std::ranges::all_of(variable->items, [](const Text& item) {
           return item.chars.find_first_not_of(" \t\n") == std::string::npos;
         }));
}

const Variable* in(const Variables& end, std::string_view name) {
  const auto found = end.find(name);
  return found == end.end() ? nullptr : &found->second;
}

/// The variable of the name after all of the branches.
Variable joined(std::string_view name,
                const std::vector<Variables>& ends,
                const Question& question) {
  const Variable* const first = in(ends.front(), name);
  std::optional<Question> inner;
  bool all_same = true;
  bool is_nothing = true;
  std::vector<std::string> flags;
  for (const Variables& end : ends) {
    const Variable* const one = in(end, name);
    all_same = all_same && is_same(one, first);
    is_nothing = is_nothing && says_nothing(one);
    add_flags(one, flags);
    if (!inner && one != nullptr) {
      inner = one->depends_on;
    }
  }
  if (is_nothing) {
    return {.items = {Text{}}};
  }
  if (all_same) {
    return *first;
  }
  return {.items = {Text{}}, .depends_on = inner ? inner : question, .flags = flags};
}

}  // namespace

bool writes_flags(const Commands& commands) {
  return std::ranges::any_of(commands, [](const Command& command) {
    const auto any = [](const std::vector<Text>& texts) {
      return std::ranges::any_of(texts, has_flags);
    };
    return any(command.words) || writes_flags(command.body) ||
           std::ranges::any_of(command.assignments,
                               [&](const Assignment& set) { return any(set.values); }) ||
           std::ranges::any_of(command.branches,
                               [](const Branch& branch) { return writes_flags(branch.body); });
  });
}

bool asks_of(const Commands& condition, const std::vector<PassedOver>& loops) {
  const auto names = [](const Text& word, const std::string& variable) {
    const std::size_t at = word.chars.find(variable);
    return at != std::string::npos && at > 0 &&
           (word.chars[at - 1] == '$' || word.chars[at - 1] == '{') &&
           end_of_name(word.chars, at) == at + variable.size();
  };
  const auto is_asked = [&](const std::string& variable) {
    return std::ranges::any_of(condition, [&](const Command& command) {
      return std::ranges::any_of(command.words,
                                 [&](const Text& word) { return names(word, variable); });
    });
  };
  return std::ranges::any_of(
      loops, [&](const PassedOver& loop) { return std::ranges::any_of(loop.variables, is_asked); });
}

void add_flags(const Variable* variable, std::vector<std::string>& into) {
  if (variable == nullptr) {
    return;
  }
  const auto add = [&](std::string name) {
    if (!includes(into, name)) {
      into.push_back(std::move(name));
    }
  };
  std::ranges::for_each(variable->flags, add);
  for (const Text& item : variable->items) {
    for (const Text& word : split_words(item)) {
      if (word.chars.starts_with("--")) {
        add(word.chars.substr(0, word.chars.find('=')));
      }
    }
  }
}

Variables joined(const std::vector<Variables>& ends, const Question& question) {
  Variables whole = ends.front();
  for (const Variables& end : ends) {
    whole.insert(end.begin(), end.end());
  }
  for (auto& [name, variable] : whole) {
    variable = joined(name, ends, question);
  }
  return whole;
}

std::vector<std::string> names_set(const Variables& before, const Variables& after) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : after) {
    if (!is_same(in(before, name), &variable)) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace titer::shell
