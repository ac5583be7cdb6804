// See report_file.hpp.
#include "report/report_file.hpp"

namespace fairlead::report {

void require_place_for(const std::string& path) {
  if (data::is_file_or_nothing(path)) data::OutputFile{path, 0};  // without a name, and gone at once
}

void write_file(const std::string& path, std::string_view text) {
  ReportFile file(path);
  file.append(text);
  file.commit();
}

}  // namespace fairlead::report
