// A file that a report goes to: it appears whole or not at all where it is a file, and is simply written
// where it is a terminal, a pipe or /dev/null.
#pragma once
#include <fairlead/ids.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "data/output/output_file.hpp"

namespace fairlead::report {

class ReportFile {
 public:
  /// Throws SystemError if it could not be written; it then is as it was.
  explicit ReportFile(std::string path);

  void append(std::string_view text);
  /// Nothing is there before. Throws SystemError.
  void commit();

 private:
  void flush();

  std::string path_;
  std::optional<data::OutputFile> file_;
  FileDescriptor stream_;
  std::string buffer_;
  Bytes written_ = 0;
};

/// Throws SystemError if nothing could be written there: to be asked before hours of work.
void require_place_for(const std::string& path);
/// All of it at once. Throws SystemError.
void write_file(const std::string& path, std::string_view text);

}  // namespace fairlead::report
