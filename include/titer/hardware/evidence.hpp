#pragma once
// Where a figure comes from. Every figure of a data file names one of the file's sources; results
// carry the weakest grade among the figures that they rest on.

#include <string>
#include <string_view>
#include <vector>

namespace titer {

class Reader;

/// How well founded a figure is, from best to worst.
enum class Grade {
  fitted,        // measured on this device or link
  datasheet,     // printed by its maker, nothing measured
  extrapolated,  // assumed from a relative
  given,         // by the user, who may ask what would be
};

[[nodiscard]] std::string_view name(Grade grade);

/// One figure: dotted key within its file, its value as written, its source's full text.
struct Evidence {
  std::string key;
  std::string value;
  std::string source;
  Grade grade = Grade::extrapolated;
};

/// The figures of one file and their sources.
class EvidenceList {
 public:
  /// Reads the file's "sources" object. Its keys starting with "measured" or "mamf" are grade
  /// fitted; those starting with "assumed", "as_" (borrowed from a relative, as in "as_bf16") or
  /// "unread" (general knowledge) extrapolated; all others datasheet.
  void read_sources(Reader& file);
  /// Notes the source of `key` as read by `in`; reports a source that the file does not list.
  /// A figure without a source was given by the user.
  void note(Reader& in, std::string_view key, std::string dotted_key);
  /// Takes over the figures of a part that came from a file of its own.
  void append(const EvidenceList& part);

  [[nodiscard]] const std::vector<Evidence>& figures() const { return figures_; }
  [[nodiscard]] const Evidence* find(std::string_view dotted_key) const;
  /// The source's text, or "given by the user".
  [[nodiscard]] std::string_view source(std::string_view dotted_key) const;
  [[nodiscard]] Grade grade(std::string_view dotted_key) const;
  /// Of a share of another figure, `whole`: its own, unless the user gave that one.
  [[nodiscard]] Grade grade_of_share(std::string_view dotted_key, std::string_view whole) const;
  /// Whether the user gave any.
  [[nodiscard]] bool has_given() const { return has_given_; }

 private:
  std::vector<Evidence> sources_;  // key: the source's short name
  std::vector<Evidence> figures_;
  bool has_given_ = false;
};

}  // namespace titer
