// A text that goes to a file, such as a report: it appears whole or not at all where it is a file, and is simply written
// where it is a terminal, a pipe or /dev/null.
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
  /// Throws SystemError if it could not be written; it then is as it was.
  explicit TextOutput(std::string path);

  void append(std::string_view text);
  /// Nothing is there before. Throws SystemError.
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

/// A directory counts as a file that cannot be written; a terminal or a pipe can be, but not made anew.
bool is_file_or_nothing(const std::string& path);

}  // namespace fairlead::data
