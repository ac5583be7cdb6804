// The text of a JDF file and the places in it. Everything that the reader makes keeps the bytes that it came from, so that
// a mistake that shows late (a division by zero for NT = 7) is still told with its line and column.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::jdf {

/// Bytes of a source: from `begin` up to, not including, `end`.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// As editors count: both from 1; a column is a byte.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class Source {
 public:
  /// Throws InputError for a text that is too large to be a JDF file (64 MB).
  Source(std::string name, std::string text);
  /// Reads the file; throws InputError if it cannot be read.
  static Source read(const std::string& path);

  const std::string& name() const noexcept { return name_; }
  const std::string& text() const noexcept { return text_; }
  std::string_view text(Range range) const noexcept;

  Position position(std::uint32_t byte) const noexcept;
  /// "file.jdf:12:8".
  std::string where(Range range) const;
  /// The line at which `byte` lies, without its end; `number` counts from 1.
  std::string_view line(std::uint32_t number) const noexcept;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> lines_;  // where each begins
};

}  // namespace fairlead::jdf
