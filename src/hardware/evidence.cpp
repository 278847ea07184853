#include "titer/hardware/evidence.hpp"

#include "titer/input/reader.hpp"

namespace titer {
namespace {

Grade grade_of_source(std::string_view short_name) {
  if (short_name.starts_with("measured") || short_name.starts_with("mamf")) {
    return Grade::fitted;
  }
  const bool is_guess = short_name.starts_with("assumed") || short_name.starts_with("as_") ||
                        short_name.starts_with("unread");
  return is_guess ? Grade::extrapolated : Grade::datasheet;
}

/// The figure as its file writes it, without its source.
std::string written_value(const Value* written) {
  const Value* value = written == nullptr ? nullptr : written->find("value");
  value = value == nullptr ? written : value;
  if (value == nullptr) {
    return {};
  }
  return value->kind == Value::Kind::text ? value->text : to_json(*value, 0);
}

const Evidence* find_key(const std::vector<Evidence>& list, std::string_view key) {
  for (const Evidence& item : list) {
    if (item.key == key) {
      return &item;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view name(Grade grade) {
  switch (grade) {
    case Grade::fitted:
      return "fitted";
    case Grade::datasheet:
      return "datasheet";
    case Grade::extrapolated:
      return "extrapolated";
    case Grade::given:
      return "given";
  }
  return "";
}

void EvidenceList::read_sources(Reader& file) {
  auto sources = file.maybe_object("sources");
  if (!sources) {
    return;
  }
  for (const std::string& key : sources->keys()) {
    sources_.push_back(
        {.key = key, .value = {}, .source = sources->text(key), .grade = grade_of_source(key)});
  }
}

void EvidenceList::note(Reader& in, std::string_view key, std::string dotted_key) {
  const std::string value = written_value(in.raw(key));
  const std::string short_name = in.source_of(key);
  if (short_name.empty()) {
    figures_.push_back({std::move(dotted_key), value, "given by the user", Grade::given});
    has_given_ = true;
    return;
  }
  const Evidence* source = find_key(sources_, short_name);
  if (source == nullptr) {
    in.fail(key, "its source \"" + short_name + "\" is not in the file's \"sources\"");
    return;
  }
  figures_.push_back({std::move(dotted_key), value, source->source, source->grade});
}

void EvidenceList::append(const EvidenceList& part) {
  figures_.insert(figures_.end(), part.figures_.begin(), part.figures_.end());
  has_given_ = has_given_ || part.has_given_;
}

const Evidence* EvidenceList::find(std::string_view dotted_key) const {
  return find_key(figures_, dotted_key);
}

std::string_view EvidenceList::source(std::string_view dotted_key) const {
  const Evidence* figure = find(dotted_key);
  return figure == nullptr ? std::string_view("given by the user")
                           : std::string_view(figure->source);
}

Grade EvidenceList::grade(std::string_view dotted_key) const {
  const Evidence* figure = find(dotted_key);
  return figure == nullptr ? Grade::given : figure->grade;
}

Grade EvidenceList::grade_of_share(std::string_view dotted_key, std::string_view whole) const {
  const Evidence* figure = find(whole);
  return figure != nullptr && figure->grade == Grade::given ? Grade::given : grade(dotted_key);
}

}  // namespace titer
