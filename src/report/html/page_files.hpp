// The styles, scripts and markup that pages are made from: files of this folder and those below it, which an
// editor and a linter read as what they are. They are embedded at build (cmake/embedded.cmake).
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/embedded_file.hpp"

namespace fairlead::report::html {

/// All of them, by name: "charts/axis.js".
std::span<const EmbeddedFile> page_files();
/// The text of one that is there.
std::string_view page_file(std::string_view name);
/// Of several, one after the other.
std::string page_files_in_turn(std::span<const std::string_view> names);

/// Markup with what is said for each {{name}} in it. What is put in is not looked at for more.
std::string filled(std::string_view markup,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values);

}  // namespace fairlead::report::html
