// See report_file.hpp.
#include "report/report_file.hpp"

#include <vector>

namespace fairlead::report {

void require_place_for(const std::string& path) {
  if (data::is_file_or_nothing(path)) data::OutputFile{path, 0};  // an unnamed file, deleted at once
}

void write_file(const std::string& path, std::string_view text) {
  const FileText file{path, text};
  write_files({&file, 1});
}

void write_files(std::span<const FileText> files) {
  std::vector<ReportFile> all;
  for (const FileText& file : files) all.emplace_back(file.path).append(file.text);
  ReportFile::commit_together(all);
}

}  // namespace fairlead::report
