// The files to which reports are written.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "data/output/text_output.hpp"

namespace fairlead::report {

using ReportFile = data::TextOutput;

/// Throws SystemError if the file could not be written. Call it before hours of work.
void require_place_for(const std::string& path);
/// Writes the whole file. Throws SystemError.
void write_file(const std::string& path, std::string_view text);
/// Writes several files, of which all appear or none, as with OutputFile::commit_together(). Throws SystemError.
struct FileText {
  std::string path;
  std::string_view text;
};
void write_files(std::span<const FileText> files);

}  // namespace fairlead::report
