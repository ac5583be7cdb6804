// The style sheets, scripts and markup of pages: files of this folder and its subfolders, so that editors and linters
// can handle them. The build embeds them (cmake/embedded.cmake).
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/embedded_file.hpp"

namespace fairlead::report::html {

/// All files, by name: "charts/axis.js".
std::span<const EmbeddedFile> page_files();
/// The text of a file, which must exist.
std::string_view page_file(std::string_view name);
/// The texts of several files, concatenated.
std::string concatenated_page_files(std::span<const std::string_view> names);

/// The markup with each {{name}} replaced by its value. Values are not expanded again.
std::string fill_template(std::string_view markup,
                          std::initializer_list<std::pair<std::string_view, std::string_view>> values);

}  // namespace fairlead::report::html
