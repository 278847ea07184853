// Seeds as files: which there are, and how one is read.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/input/file.hpp"
#include "titer/input/read_document.hpp"
#include "titer/input/words.hpp"
#include "titer/seeds/seed.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::string_view kSeedFolder = "configs/seeds";
/// The kinds of statements: an id's letter, and the folder of its files.
struct SeedKind {
  char letter;
  std::string_view folder;
};
constexpr std::array<SeedKind, 6> kSeedKinds = {{{'S', "systems"},
                                                 {'H', "hardware"},
                                                 {'E', "equations"},
                                                 {'D', "data"},
                                                 {'F', "findings"},
                                                 {'T', "traps"}}};

/// "E12a" as (kind, 12, "a"), to sort by.
struct SeedOrder {
  std::size_t kind = 0;
  int number = 0;
  std::string rest;
  friend auto operator<=>(const SeedOrder&, const SeedOrder&) = default;
};

SeedOrder order_of(const std::string& id) {
  SeedOrder order;
  const auto* const kind =
      std::ranges::find_if(kSeedKinds, [&](const auto& k) { return k.letter == id.front(); });
  order.kind = static_cast<std::size_t>(kind - kSeedKinds.begin());
  std::string_view rest = std::string_view(id).substr(1);
  const auto number = take_number<int>(rest);
  order.number = number.value_or(0);
  order.rest = number ? rest : id;
  return order;
}

std::filesystem::path folder_of(char letter) {
  for (const SeedKind& kind : kSeedKinds) {
    if (kind.letter == letter) {
      return data_root() / kSeedFolder / kind.folder;
    }
  }
  return {};
}

/// An expression, or a number.
std::string read_expression(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  if (value == nullptr || value->kind == Value::Kind::null) {
    return {};
  }
  return bare_text(*value);
}

/// What is printed: one number, or a range that may be open.
void read_printed(Reader& in, SeedCheck& check) {
  const std::string printed = read_expression(in, "printed");
  check.printed_from = printed + read_expression(in, "printed_from");
  check.printed_to = printed + read_expression(in, "printed_to");
  if (!printed.empty() && (in.has("printed_from") || in.has("printed_to"))) {
    in.fail("printed", "expected either this or a range, \"printed_from\" and \"printed_to\"");
  }
  check.over = in.texts("over");
  check.ratio = in.maybe_number("ratio", 0.0, 1e9);
}

void expect_sound_figure(Reader& in, const SeedCheck& check) {
  for (const std::string_view law :
       {"expected", "at_least", "at_most", "tolerance", "margin", "each", "reads_back"}) {
    if (in.has(law)) {
      in.fail(law, "expected none of it beside what is printed");
    }
  }
  if (!check.ratio) {
    in.fail("ratio", "expected predicted over printed, to see when it changes");
  } else if (check.why.empty() && std::abs(*check.ratio - 1) > kMet) {
    in.fail("why", fmt::format("expected why the figure is not met within {:.0f} %", 100 * kMet));
  }
  if (!check.over.empty() && check.why.empty()) {
    in.fail("why", "expected what the document leaves open");
  }
}

void expect_sound_law(Reader& in, const SeedCheck& check) {
  if (check.expected.empty() && check.at_least.empty() && check.at_most.empty()) {
    in.fail("value", "expected \"expected\", \"at_least\", \"at_most\" or \"printed\" beside it");
  }
  if (check.tolerance > 0.0 && check.why.empty()) {
    in.fail("why", "expected the reason of the tolerance");
  }
  for (const std::string_view figure : {"over", "ratio"}) {
    if (in.has(figure)) {
      in.fail(figure, "expected what is \"printed\" beside it");
    }
  }
}

SeedCheck read_check(Reader in) {
  SeedCheck check;
  check.what = in.text("what");
  check.value = read_expression(in, "value");
  check.expected = read_expression(in, "expected");
  check.tolerance = in.maybe_number("tolerance", 0.0, 10.0).value_or(0.0);
  check.margin = in.maybe_number("margin", 0.0, 1e300);
  check.at_least = read_expression(in, "at_least");
  check.at_most = read_expression(in, "at_most");
  read_printed(in, check);
  check.why = in.maybe_text("why").value_or("");
  check.each = in.maybe_text("each").value_or("");
  check.reads_back = in.flag("reads_back", false);
  check.reading = in.maybe_choice<Reading>("reading", kReadings);
  if (check.value.empty()) {
    in.fail("value", "expected an expression over the answers");
  }
  if (check.is_figure()) {
    expect_sound_figure(in, check);
  } else {
    expect_sound_law(in, check);
  }
  in.finish();
  return check;
}

/// The questions of a file, each case by itself.
std::vector<AskedQuestion> read_questions(const Value* questions,
                                          const Document& document,
                                          const std::filesystem::path& folder) {
  std::vector<AskedQuestion> asked;
  if (questions == nullptr) {
    return asked;
  }
  for (const auto& [name, question] : questions->members) {
    for (auto& [of_case, value] : cases_of(question)) {
      Document one{.root = std::move(value), .sources = document.sources};
      asked.push_back({of_case.empty() ? name : join_path(name, of_case),
                       read_document(one, [&](Reader& in) { return read_question(in, folder); })});
    }
  }
  return asked;
}

Seed read_seed(const Document& document, const std::filesystem::path& folder) {
  Problems problems;
  Reader in(document, problems);
  Seed seed;
  seed.id = in.text("id");
  seed.title = in.text("title");
  seed.document = in.text("document");
  seed.says = in.text("says");
  seed.note = in.maybe_text("note").value_or("");
  seed.home = in.maybe_text("home").value_or("");
  seed.reason = in.maybe_text("reason").value_or("");
  const Value* questions = in.raw("questions");
  if (in.has("checks")) {
    for (const Reader& check : in.objects("checks")) {
      seed.checks.push_back(read_check(check));
    }
  }
  if (seed.checks.empty() == seed.reason.empty()) {
    in.fail("", "expected either \"checks\" or the \"reason\" why there is nothing to compute");
  }
  in.finish();
  problems.raise();
  seed.questions = read_questions(questions, document, folder);
  for (SeedCheck& check : seed.checks) {
    check.kind = check_kind(seed, check);
  }
  return seed;
}

}  // namespace

std::vector<std::string> seed_ids() {
  std::vector<std::string> ids;
  for (const SeedKind& kind : kSeedKinds) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(folder_of(kind.letter), missing)) {
      if (entry.path().extension() == ".json") {
        ids.push_back(entry.path().stem().string());
      }
    }
  }
  std::ranges::sort(
      ids, [](const std::string& a, const std::string& b) { return order_of(a) < order_of(b); });
  return ids;
}

Seed load_seed(std::string_view id) {
  if (id.ends_with(".json")) {
    const std::filesystem::path file(id);
    return read_seed(load_json(file), file.parent_path());
  }
  const std::vector<std::string> ids = seed_ids();
  const auto known =
      std::ranges::find(ids, lower(id), [](const std::string& own) { return lower(own); });
  if (known == ids.end()) {
    throw InputError(std::string(id) + ": expected a statement of the seeds, such as F33" +
                     suggestion(id, ids));
  }
  const std::filesystem::path folder = folder_of(known->front());
  Seed seed = read_seed(load_json(folder / (*known + ".json")), folder);
  if (seed.id != *known) {
    throw InputError(*known + ".json: id: " + seed.id + ": expected the file's name");
  }
  return seed;
}

}  // namespace titer
