#pragma once
// What the files of all kinds of models begin with, and what those may hold that are no
// transformers.

#include <array>

#include "titer/input/fields.hpp"

namespace titer {

template <class M>
inline constexpr std::array<Field<M>, 3> kNameFields = {
    fields::text<&M::name>("name", "one word").needed(),
    fields::text<&M::title>("title", "the same for people").or_else("its name"),
    fields::text<&M::source>("source", "where its figures are from").or_else("given by the user")};

template <class M>
void read_names(Reader& in, M& model) {
  read_keys<M>(kNameFields<M>, in, model);
  model.title = model.title.empty() ? model.name : model.title;
  model.source = model.source.empty() ? "given by the user" : model.source;
}

[[nodiscard]] Value layered_schema();
[[nodiscard]] Value dlrm_schema();

}  // namespace titer
