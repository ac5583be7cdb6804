// The errors and warnings of a file. All of them are collected and printed in file order, each with its line, a caret,
// and a suggestion.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/jdf/source_file.hpp"

namespace fairlead::jdf {

enum class Severity : std::uint8_t {
  warning,  // valid, but perhaps not what was intended
  error,    // invalid
};

/// A second position that belongs to an error: "GEMM is here".
struct Note {
  SourceRange where;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::error;
  SourceRange where;
  std::string message;  ///< without a full stop; ends in " (did you mean ...?)" if a similar name exists
  std::vector<Note> remarks;
};

class Diagnostics {
 public:
  void error(SourceRange where, std::string message, std::vector<Note> remarks = {});
  void warning(SourceRange where, std::string message, std::vector<Note> remarks = {});

  std::size_t errors() const noexcept { return errors_; }
  /// Whether the next error may compare all names to find a suggestion: false after 200 diagnostics.
  bool may_suggest() const noexcept { return all_.size() < 200; }
  std::size_t warnings() const noexcept { return all_.size() - errors_; }
  /// In file order.
  std::vector<Diagnostic> sorted() const;

 private:
  void add(Diagnostic diagnostic);

  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
};

/// did_you_mean() (base/suggest.hpp), or empty once it would take too long: each call compares all candidates.
std::string suggestion(const Diagnostics& so_far, std::string_view name,
                       std::span<const std::string_view> candidates);

/// The text of one diagnostic: "file.jdf:12:8: error: ...", the line, a caret, the remarks; ends with a newline.
std::string shown(const Diagnostic& diagnostic, const SourceFile& source);
/// The text of the first `most` diagnostics, then the number of the remaining ones.
std::string shown(const Diagnostics& diagnostics, const SourceFile& source, std::size_t most = 50);

}  // namespace fairlead::jdf
