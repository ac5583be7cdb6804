// What is wrong with a file: all of it, in the order of the file, each with the line, a caret below it, and what was
// probably meant.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/jdf/source.hpp"

namespace fairlead::jdf {

enum class Severity : std::uint8_t {
  warning,  // it means something, though perhaps not what was intended
  error,    // it means nothing
};

/// Another place that belongs to a mistake: "GEMM is here".
struct Remark {
  Range where;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::error;
  Range where;
  std::string message;  ///< without a full stop; with " (did you mean ...?)" where a name is near
  std::vector<Remark> remarks;
};

class Diagnostics {
 public:
  void error(Range where, std::string message, std::vector<Remark> remarks = {});
  void warning(Range where, std::string message, std::vector<Remark> remarks = {});

  std::size_t errors() const noexcept { return errors_; }
  /// Whether a further one may look at all names for what was meant.
  bool may_suggest() const noexcept { return all_.size() < 200; }
  std::size_t warnings() const noexcept { return all_.size() - errors_; }
  /// In the order of the file.
  std::vector<Diagnostic> sorted() const;

 private:
  void add(Diagnostic diagnostic);

  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
};

/// did_you_mean() (base/suggest.hpp), as long as that takes no time that matters: each call looks at all names.
std::string suggestion(const Diagnostics& so_far, std::string_view name,
                       std::span<const std::string_view> candidates);

/// "file.jdf:12:8: error: ...", the line, a caret, the remarks; ends with a newline.
std::string shown(const Diagnostic& diagnostic, const Source& source);
/// All of them; at most `most`, and then how many more there are.
std::string shown(const Diagnostics& diagnostics, const Source& source, std::size_t most = 50);

}  // namespace fairlead::jdf
