// The file that a report goes to.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "data/output/text_output.hpp"

namespace fairlead::report {

using ReportFile = data::TextOutput;

/// Throws SystemError if nothing could be written there: to be asked before hours of work.
void require_place_for(const std::string& path);
/// All of it at once. Throws SystemError.
void write_file(const std::string& path, std::string_view text);
/// Several files, each with its text, of which all appear or none, as OutputFile::commit_together(). Throws SystemError.
struct FileText {
  std::string path;
  std::string_view text;
};
void write_files(std::span<const FileText> files);

}  // namespace fairlead::report
