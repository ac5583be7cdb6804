// A line in the user's program, for error messages. Replaces std::source_location, which clang 14 does not have.
#pragma once
#include <cstdint>

namespace fairlead {

class SourceLine {
 public:
  /// The line of the call; as the default of a parameter, the line where the function is called.
  static constexpr SourceLine current(const char* file = __builtin_FILE(),
                                      std::uint32_t line = __builtin_LINE()) noexcept {
    return SourceLine(file, line);
  }
  constexpr SourceLine(const char* file, std::uint32_t line) noexcept : file_(file), line_(line) {}
  /// Converts a std::source_location.
  template <class Location>
  requires requires(const Location& location) {
    location.file_name();
    location.line();
    location.function_name();
  }
  constexpr SourceLine(const Location& location) noexcept
      : file_(location.file_name()), line_(location.line()) {}

  constexpr const char* file_name() const noexcept { return file_; }
  constexpr std::uint32_t line() const noexcept { return line_; }

 private:
  const char* file_;
  std::uint32_t line_;
};

}  // namespace fairlead
