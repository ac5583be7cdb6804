// Looks up files by name, and fills in templates.
#include "report/html/page_files.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace fairlead::report::html {

std::string_view page_file(std::string_view name) {
  const auto found = std::ranges::find(page_files(), name, &EmbeddedFile::name);
  ensure(found != page_files().end(), "a page is made from files that are there");
  return found->text;
}

std::string concatenated_page_files(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += page_file(name);
  return text;
}

std::string fill_template(std::string_view markup,
                          std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string text;
  for (;;) {
    const std::size_t from = markup.find("{{"), to = markup.find("}}", from);
    text += markup.substr(0, from);
    if (from == markup.npos) return text;
    const std::string_view name = markup.substr(from + 2, to - from - 2);
    const auto* const value =
        std::ranges::find(values, name, &std::pair<std::string_view, std::string_view>::first);
    ensure(value != values.end(), "each place of the markup is filled in");
    text += value->second;
    markup.remove_prefix(to + 2);
  }
}

}  // namespace fairlead::report::html
