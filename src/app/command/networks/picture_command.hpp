#pragma once
// Subcommands whose answer is printed, or drawn.

#include <algorithm>
#include <optional>

#include "app/output/output_file.hpp"
#include "app/output/picture_file.hpp"
#include "app/output/png.hpp"
#include "app/question_command.hpp"
#include "titer/ask/network.hpp"

namespace titer {

/// As what an answer goes to a file.
struct DrawnAs {
  Format format = Format::text;
  AnswerPicture picture = AnswerPicture::none;  // in place of it
  bool is_png = false;                          // of the picture
};
inline constexpr DrawnAs kAsPng = {.picture = AnswerPicture::svg, .is_png = true};
struct PictureOptions {
  std::optional<DrawnAs> as = {};  // otherwise as the name of the file tells
  std::string out = {};
};

/// What check_ending() calls it.
[[nodiscard]] constexpr std::string_view format_of(const DrawnAs& as) {
  switch (as.picture) {
    case AnswerPicture::dot:
      return "dot";
    case AnswerPicture::svg:
      return as.is_png ? "png" : "svg";
    case AnswerPicture::none:
      break;
  }
  return word_of(kFormats, as.format);
}

/// As `choices` have it that the file's name tells of.
template <std::size_t N>
[[nodiscard]] DrawnAs told_by_name(const std::string& out,
                                   const std::array<Choice<DrawnAs>, N>& choices) {
  const auto told = std::ranges::find(choices, told_format(out), &Choice<DrawnAs>::name);
  return told == choices.end() ? DrawnAs() : told->value;
}

template <const auto& choices, class R>
int picture_command(const QuestionCommand<R, PictureOptions>& command) {
  const PictureOptions own = command.own();
  const DrawnAs as = own.as.value_or(told_by_name(own.out, choices));
  R request = command.request();
  request.picture = as.picture;
  if (as.is_png) {
    expect_png_goes_to(own.out);
  }
  OutputFile out("--out", own.out, format_of(as));
  const PictureOutcome outcome = command.answer(request);
  const bool is_drawn = as.picture != AnswerPicture::none;
  out.write(as.is_png  ? png_of(outcome.picture)
            : is_drawn ? outcome.picture
                       : written(as.format, outcome.view, own.out));
  command.report()->write(outcome.view);
  out.finish();
  if (is_drawn || as.format == Format::csv) {
    tell_notes(outcome.notes);  // a matrix that other programs read, and a picture of it
  }
  return kSuccess;
}

}  // namespace titer
