#include "titer/ask/question.hpp"

#include "titer/ask/option.hpp"
#include "titer/input/schema.hpp"
#include "titer/units/lists.hpp"
#include "titer/web/answer.hpp"

namespace titer {
namespace {

Value texts_schema() { return schema::either({schema::text(), schema::list_of(schema::text())}); }

/// What may be written for an option.
Value option_schema(const OptionWords& option) {
  switch (option.kind) {
    case OptionKind::text:
      return schema::text();
    case OptionKind::texts:
      return texts_schema();
    case OptionKind::flag:
      return schema::flag();
    case OptionKind::integer:
      return schema::integer(option.range);
    case OptionKind::number:
      return schema::number(option.range);
    case OptionKind::asked:
      return schema::named_data();
    case OptionKind::changes:
      break;
  }
  return schema::either({Value::make_object().add("type", Value("object")), texts_schema()});
}

Value question_with(const Question& question) {
  Value object = schema::object();
  const std::array names = {question.name};
  schema::add_key(object,
                  {.key = "question",
                   .about = "what is asked: the program's subcommand",
                   .required = true,
                   .written = schema::one_of(names)});
  for (const OptionWords& option : question.options()) {
    schema::add_key(object,
                    {.key = option.key,
                     .about = option.about,
                     .otherwise = option.usual,
                     .required = option.is_needed,
                     .written = option_schema(option)});
  }
  for (const auto& [key, about] : kAnswerForms) {
    schema::add_key(object, {.key = key, .about = about, .written = schema::flag()});
  }
  return object;
}

}  // namespace

Value question_schema() {
  std::vector<Value> alternatives =
      each_of(questions(), [&](const Question& question) { return question_with(question); });
  return schema::either(std::move(alternatives));
}

}  // namespace titer
