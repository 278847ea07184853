#pragma once
// Shipped data with changes: a name's members replaced one by one, or a file that says which other
// it starts from ("base").

#include <filesystem>

#include "titer/scenario/source.hpp"

namespace titer {

/// Replaces and adds members of `base` by those of `changes`, objects member by member. A null
/// takes a member away; a figure ("value", "source") is replaced as a whole; one written
/// {"times": 0.8, "source": …} is the base's, scaled. `document` holds the changes, for messages.
void merge(Value& base, Value changes, const Document& document);

/// Whether data of that kind may start from others, or follow figures of theirs.
[[nodiscard]] bool may_refer_to_others(const DataKind& kind);

/// Whether the value says what it starts from, in a kind of data that may do so.
[[nodiscard]] bool has_base(const Value& value, const DataKind& kind);

/// Makes a whole of a value of `document` that has a base, as load_whole() does of a file.
void resolve_base(Document& document,
                  Value& value,
                  const DataKind& kind,
                  const std::filesystem::path& folder);

/// Gives the figures of a value of `document` that follow others (scenario/followed_figures.hpp)
/// their values, as load_whole() does of a file.
void give_values(const Document& document, Value& value, const DataKind& kind);

/// Of the file that the place is in.
[[nodiscard]] std::filesystem::path folder_of(const Document& document, Origin origin);

}  // namespace titer
