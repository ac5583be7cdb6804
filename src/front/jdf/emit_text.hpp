// A text of C or C++ that grows line by line and knows how far it is, so that #line can lead to the JDF file and back.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "front/jdf/source.hpp"

namespace fairlead::jdf {

class EmitText {
 public:
  static constexpr std::size_t most_columns = 110;

  /// `own`: what its file is called; `source`: the JDF file.
  EmitText(std::string own, const Source& source) : own_(std::move(own)), source_(source) {}

  void line(std::string_view text = {});
  /// As lines of a comment.
  void comment(const std::vector<std::string>& lines);
  /// As one that documents what follows it.
  void document(const std::string& text, std::size_t margin = 0);
  /// What follows comes from there.
  void from(Range where);
  /// What follows is this file's own again.
  void own();
  /// A line of `before`, the parts with commas between them, and `after`; on several lines if it is too long, as
  /// clang-format has them: behind its "=", or below the end of `before`.
  void list(const std::string& before, const std::vector<std::string>& parts, const std::string& after);
  /// A line; on two, behind its "=", if it is too long.
  void statement(const std::string& text);
  /// As it is, and to the end of its last line.
  void verbatim(std::string_view text);

  const std::string& text() const noexcept { return text_; }

 private:
  std::string own_;
  const Source& source_;
  std::string text_;
  std::size_t line_ = 1;
  bool foreign_ = false;         // lines count as those of the source
  std::uint32_t of_source_ = 0;  // then: the next one's number
};

/// As a string literal of C.
std::string c_string(std::string_view text);

}  // namespace fairlead::jdf
