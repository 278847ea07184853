#pragma once
// Subcommands whose answer is printed, or drawn.

#include "app/output/output_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/network.hpp"

namespace titer {

/// As what an answer goes to a file.
struct DrawnAs {
  Format format = Format::text;
  AnswerPicture picture = AnswerPicture::none;  // in place of it
};
struct PictureOptions {
  DrawnAs as = {};
  std::string out = {};
};

template <class R>
int picture_command(const QuestionCommand<R, PictureOptions>& command) {
  const PictureOptions own = command.own();
  R request = command.request();
  request.picture = own.as.picture;
  OutputFile out(own.out);
  const PictureOutcome outcome = command.answer(request);
  const bool is_drawn = own.as.picture != AnswerPicture::none;
  out.write(is_drawn ? outcome.picture : written(own.as.format, outcome.view, own.out));
  command.report()->write(outcome.view);
  out.finish();
  if (is_drawn || own.as.format == Format::csv) {
    tell_notes(outcome.notes);  // a matrix that other programs read, and a picture of it
  }
  return kSuccess;
}

}  // namespace titer
