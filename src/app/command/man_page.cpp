#include "man_page.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <string_view>

#include "titer/ask/shipped.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr std::string_view kExitStatus =
    ".SH EXIT STATUS\n"
    ".TP\n0\nSuccess.\n"
    ".TP\n1\nThe answer to what was asked is no.\n"
    ".TP\n2\nThe input is wrong: every mistake is a line on standard error.\n"
    ".TP\n3\nA defect of the program.\n"
    ".TP\n130\nInterrupted.\n";
constexpr std::string_view kEnvironment =
    ".SH ENVIRONMENT\n"
    ".TP\n.B TITER_PATH\nFolders of data of one\\(aqs own, with colons between them; the files in "
    "them have names.\n"
    ".TP\n.B TITER_DATA\nThe folder that is read in place of what is shipped.\n"
    ".TP\n.B COLUMNS, NO_COLOR\nHow wide text is, and that it has no colours.\n";

/// As it is, in a line of troff.
std::string troff(std::string_view words) {
  std::string text;
  for (const char c : words) {
    switch (c) {
      case '\\':
        text += "\\e";
        break;
      case '-':
        text += "\\-";
        break;
      case '\'':
        text += "\\(aq";
        break;
      case '^':
        text += "\\(ha";
        break;
      case '~':
        text += "\\(ti";
        break;
      default:
        text += c;
    }
  }
  return text.starts_with(".") ? "\\&" + text : text;
}

/// A sentence: with a capital at its begin and a full stop.
std::string sentence(std::string words) {
  if (!words.empty()) {
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  }
  return words.empty() || words.ends_with('.') ? words : words + ".";
}

/// The command as it is typed: "titer run".
std::string typed(const CLI::App& app) {
  const CLI::App* const program = app.get_parent();
  return (program == nullptr ? "" : program->get_name() + " ") + app.get_name();
}

/// "SCENARIO", and what says that there may be more or none.
std::string argument(const CLI::Option& option) {
  const std::string more = option.get_items_expected_max() > 1 ? "\\fR..." : "\\fR";
  const std::string text = "\\fI" + troff(option.get_type_name()) + more;
  return option.get_required() ? text : "[" + text + "]";
}

std::string synopsis(const CLI::App& app) {
  std::string text = fmt::format(".SH SYNOPSIS\n.B {}\n", troff(typed(app)));
  if (!app.get_subcommands(nullptr).empty()) {
    return text + "\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n";
  }
  text += "[\\fIOPTION\\fR...]";
  for (const CLI::Option* option : app.get_options(nullptr)) {
    text += option->get_positional() ? " " + argument(*option) : "";
  }
  return text + "\n";
}

/// How it is written: "--set PATH=VALUE".
std::string heading(const CLI::Option& option) {
  if (option.get_positional()) {
    return "\\fI" + troff(option.get_type_name()) + "\\fR";
  }
  std::string text;
  const auto add = [&](std::string_view dashes, const std::string& name) {
    add_listed(text, fmt::format("\\fB{}\\fR", troff(std::string(dashes) + name)));
  };
  for (const std::string& name : option.get_snames()) {
    add("-", name);
  }
  for (const std::string& name : option.get_lnames()) {
    add("--", name);
  }
  const bool is_flag = option.get_items_expected_max() == 0;
  return is_flag ? text : text + " \\fI" + troff(option.get_type_name()) + "\\fR";
}

/// A list of those that are positional, or of the others.
std::string options_part(const CLI::App& app, bool positional) {
  std::string text;
  for (const CLI::Option* option : app.get_options(nullptr)) {
    if (option->get_positional() != positional || option->get_group().empty()) {
      continue;
    }
    const std::string standard = option->get_default_str();
    text += fmt::format(".TP\n{}\n{}\n",
                        heading(*option),
                        troff(sentence(option->get_description()) +
                              (standard.empty() ? "" : " If left out: " + sentence(standard))));
  }
  const std::string_view title = positional ? "ARGUMENTS" : "OPTIONS";
  return text.empty() ? text : fmt::format(".SH {}\n{}", title, text);
}

std::string commands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    text += fmt::format(
        ".TP\n\\fB{}\\fR(1)\n{}\n", troff(man_name(*sub)), troff(sentence(sub->get_description())));
  }
  return text.empty() ? text : ".SH COMMANDS\n" + text;
}

/// What stands below the options of a command's help: examples are indented, all else are remarks.
std::string remarks(std::string_view footer) {
  std::string notes;
  std::string examples;
  for (const std::string_view line : divided(footer, "\n")) {
    if (line.starts_with("  ")) {
      examples += troff(line.substr(2)) + "\n";
    } else if (!line.empty() && line != "Examples:") {
      notes += troff(line) + "\n";
    }
  }
  return (notes.empty() ? "" : ".SH NOTES\n" + notes) +
         (examples.empty() ? "" : ".SH EXAMPLES\n.nf\n" + examples + ".fi\n");
}

std::string see_also(const CLI::App& app) {
  return app.get_parent() == nullptr
             ? ".SH SEE ALSO\nThe guide, in the documents that come with the program.\n"
             : ".SH SEE ALSO\n.BR titer (1)\n";
}

}  // namespace

std::string man_name(const CLI::App& app) {
  std::string name = typed(app);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CLI::App& app) {
  std::string title = man_name(app);
  std::ranges::transform(
      title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string& about = app.get_description();
  return fmt::format(".TH \"{}\" 1 \"\" \"titer {}\" \"Titer\"\n.SH NAME\n{} \\- {}\n",
                     troff(title),
                     version(),
                     troff(man_name(app)),
                     troff(about)) +
         synopsis(app) + ".SH DESCRIPTION\n" + troff(sentence(about)) + "\n" + commands(app) +
         options_part(app, true) + options_part(app, false) + remarks(app.get_footer()) +
         std::string(kExitStatus) + std::string(kEnvironment) + see_also(app);
}

}  // namespace titer
