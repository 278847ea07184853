#pragma once
// Figures of data files that follow another one rather than hold a copy of its number:
// {"figure": "launch_floor", "of": "a100-sxm4-80gb", "source": …}. Whatever reads the data finds
// their values only; files that are written anew say again what they follow.

#include <functional>

#include "titer/scenario/source.hpp"

namespace titer {

/// Whether the value says which figure it follows.
[[nodiscard]] bool follows(const Value& value);
/// Whether any figure below it does.
[[nodiscard]] bool any_follows(const Value& root);

/// The whole data that the text "of" of a figure names. Throws InputError where there are none.
using NamedData = std::function<Value&(const Value& of)>;

/// Gives every figure below `root` that follows another the other's value, beside what it follows.
/// "figure" is the other's path, in which an item of a list goes by its "name"; without "of" it
/// leads from `root`. "times" is a factor; "in_proportion_to" names figures beside both that it
/// grows with. Throws InputError with the place of what is not there, is no figure or leads back to
/// itself. REQUIRES none that has a value.
void follow_figures(const Document& document, Value& root, const NamedData& named);

/// Throws InputError with the place of a figure that both follows another and has a value.
void refuse_both(const Document& document, const Value& root);

/// Leaves the figures that have been given values plain figures, which follow nothing.
void keep_values(Value& root);
/// Leaves them as before they were given values. One that follows a file given by its path becomes
/// plain: from another folder the path leads elsewhere.
void forget_values(Value& root);

/// Puts the figures of `open` that follow others in the places where `written`, the same data, has
/// the source that they have, and so no value of its own.
void restore_followed(Value& written, const Value& open);

/// "16.05 TB/s" of "21 TB/s" and 0.7644; plain numbers likewise. Empty: it is no figure.
[[nodiscard]] std::optional<Value> scaled(const Value& figure, double factor);

}  // namespace titer
