// Writes text, such as a report. A regular file appears complete or not at all; a terminal, a pipe or /dev/null is
// written directly.
#pragma once
#include <fairlead/ids.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "data/output/output_file.hpp"

namespace fairlead::data {

class TextOutput {
 public:
  /// Throws SystemError if `path` cannot be written; it is then unchanged.
  explicit TextOutput(std::string path);

  void append(std::string_view text);
  /// A file does not exist before. Throws SystemError.
  void commit();
  /// As OutputFile::commit_together().
  static void commit_together(std::span<TextOutput> texts);

 private:
  void flush();

  std::string path_;
  std::optional<OutputFile> file_;
  FileDescriptor stream_;
  std::string buffer_;
  Bytes written_ = 0;
};

/// True for a regular file, a missing one, and a directory (an error when it is opened for writing). False for a
/// terminal or a pipe, which are written but not replaced.
bool is_file_or_nothing(const std::string& path);

}  // namespace fairlead::data
