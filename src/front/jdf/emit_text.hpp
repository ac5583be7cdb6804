// Generated C or C++ text. It counts its lines, so that #line can switch to the JDF file and back.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "front/jdf/source_file.hpp"

namespace fairlead::jdf {

class EmitText {
 public:
  static constexpr std::size_t most_columns = 110;

  /// `own`: the name of the generated file; `source`: the JDF file.
  EmitText(std::string own, const SourceFile& source) : own_(std::move(own)), source_(source) {}

  void line(std::string_view text = {});
  /// Adds lines as a comment.
  void comment(const std::vector<std::string>& lines);
  /// Adds a documentation comment for the next line, indented by `margin`.
  void document(const std::string& text, std::size_t margin = 0);
  /// The next lines come from this position of the JDF file.
  void from(SourceRange where);
  /// The next lines belong to the generated file again.
  void own();
  /// Adds `before`, the parts separated by commas, and `after`. A list that is too long is broken as clang-format does:
  /// after its "=", or aligned with the end of `before`.
  void list(const std::string& before, const std::vector<std::string>& parts, const std::string& after);
  /// Adds a line; if it is too long, it is broken after its "=".
  void statement(const std::string& text);
  /// Adds text unchanged, and ends its last line.
  void verbatim(std::string_view text);

  const std::string& text() const noexcept { return text_; }

 private:
  std::string own_;
  const SourceFile& source_;
  std::string text_;
  std::size_t line_ = 1;
  bool foreign_ = false;         // lines count as those of the source
  std::uint32_t of_source_ = 0;  // the number of the next source line, if `foreign_`
};

/// The text as a C string literal.
std::string c_string(std::string_view text);

}  // namespace fairlead::jdf
