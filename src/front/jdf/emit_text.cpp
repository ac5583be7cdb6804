// See emit_text.hpp.
#include "front/jdf/emit_text.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace fairlead::jdf {

namespace {

/// The number of lines that a list needs if its parts start at `column`.
std::size_t lines_of(std::size_t column, const std::vector<std::string>& parts, std::size_t after) {
  std::size_t lines = 1, now = column;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t size = parts[i].size() + (i + 1 == parts.size() ? after : 1);
    if (now != column && now + 1 + size > EmitText::most_columns) {
      ++lines;
      now = column;
    }
    now += (now == column ? 0 : 1) + size;
  }
  return lines;
}

}  // namespace

void EmitText::line(std::string_view text) {
  text_ += text;
  text_ += '\n';
  const auto lines = 1 + static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
  line_ += lines;
  of_source_ += lines;
}

void EmitText::comment(const std::vector<std::string>& lines) {
  for (const std::string& it : lines) line(std::string(2, '/') + " " + it);
}

void EmitText::document(const std::string& text, std::size_t margin) {
  line(std::string(margin, ' ') + std::string(3, '/') + " " + text);
}

void EmitText::from(SourceRange where) {
  const std::uint32_t there = source_.position(where.begin).line;
  if (foreign_ && of_source_ == there) return;  // the source continues there anyway
  line(fmt::format("#line {} {}", there, c_string(source_.name())));
  foreign_ = true;
  of_source_ = there;
}

void EmitText::own() {
  if (!foreign_) return;
  foreign_ = false;
  line(fmt::format("#line {} {}", line_ + 1, c_string(own_)));
}

void EmitText::list(const std::string& before, const std::vector<std::string>& parts,
                    const std::string& after) {
  const std::size_t equals = before.find(" = ");
  const bool is_lambda = before.find(" = [") != std::string::npos;
  const std::size_t lines = lines_of(before.size(), parts, after.size());
  if (lines > 1 && equals != std::string::npos && !is_lambda) {
    const std::string rest = std::string(before.find_first_not_of(' ') + 4, ' ') + before.substr(equals + 3);
    if (1 + lines_of(rest.size(), parts, after.size()) <= lines) {
      line(before.substr(0, equals + 2));
      return list(rest, parts, after);
    }
  }
  const std::string margin(before.size(), ' ');
  std::string now = before;
  bool begins = true;  // the start of a line, or of the list
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 == parts.size() ? after : ",");
    if (!begins && now.size() + 1 + part.size() > most_columns) {
      line(now);
      now = margin;
      begins = true;
    }
    now += (begins ? "" : " ") + part;
    begins = false;
  }
  line(parts.empty() ? before + after : now);
}

void EmitText::statement(const std::string& text) {
  const std::size_t equals = text.find(" = ");
  if (text.size() <= most_columns || equals == std::string::npos) return line(text);
  line(text.substr(0, equals + 2));
  line(std::string(text.find_first_not_of(' ') + 4, ' ') + text.substr(equals + 3));
}

void EmitText::verbatim(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  line(text);
}

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + '"';
}

}  // namespace fairlead::jdf
