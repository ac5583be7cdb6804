// The text of a JDF file, and positions in it. The parser keeps the byte range of every syntax element, so that errors
// found later (a division by zero for NT = 7) still have a line and a column.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::jdf {

/// A range of bytes of a source: from `begin` up to, but not including, `end`.
struct SourceRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// A position as editors show it: both count from 1; a column is a byte.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class SourceFile {
 public:
  /// Throws InputError if the text is too large for a JDF file (64 MiB).
  SourceFile(std::string name, std::string text);
  /// Reads the file; throws InputError if it cannot be read.
  static SourceFile read(const std::string& path);

  const std::string& name() const noexcept { return name_; }
  const std::string& text() const noexcept { return text_; }
  std::string_view text(SourceRange range) const noexcept;

  Position position(std::uint32_t byte) const noexcept;
  /// The position of the first byte, as "file.jdf:12:8".
  std::string where(SourceRange range) const;
  /// Line `number` (from 1), without its line end; empty if there is no such line.
  std::string_view line(std::uint32_t number) const noexcept;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> lines_;  // the byte at which each line starts
};

}  // namespace fairlead::jdf
