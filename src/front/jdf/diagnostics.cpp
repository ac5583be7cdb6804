// See diagnostics.hpp.
#include "front/jdf/diagnostics.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/suggest.hpp"

namespace fairlead::jdf {

namespace {

constexpr std::size_t most_candidates = 2'000;
constexpr std::size_t longest_line = 160;  // bytes, of a source line that is shown

/// Replaces tabs with one space, and control characters with '?'.
std::string printable(std::string_view line) {
  std::string out(line);
  for (char& letter : out) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '\t')
      letter = ' ';
    else if (byte < ' ' || byte == 127)
      letter = '?';
  }
  return out;
}

std::string quoted_line(SourceRange where, const SourceFile& source) {
  const Position at = source.position(where.begin);
  std::string_view line = source.line(at.line);
  std::size_t column = at.column - 1;
  std::size_t cut = 0;
  if (line.size() > longest_line) {
    if (column > longest_line / 2) cut = std::min(column - longest_line / 2, line.size() - longest_line / 2);
    line = line.substr(cut, longest_line);
    column -= cut;
  }
  const std::size_t length = std::clamp<std::size_t>(where.end > where.begin ? where.end - where.begin : 1, 1,
                                                     line.size() > column ? line.size() - column : 1);
  return fmt::format("{:>5} | {}\n      | {}^{}\n", at.line, printable(line), std::string(column, ' '),
                     std::string(length - 1, '~'));
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::error) ++errors_;
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::error(SourceRange where, std::string message, std::vector<Note> remarks) {
  add({Severity::error, where, std::move(message), std::move(remarks)});
}

void Diagnostics::warning(SourceRange where, std::string message, std::vector<Note> remarks) {
  add({Severity::warning, where, std::move(message), std::move(remarks)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> out = all_;
  std::ranges::stable_sort(out, {}, [](const Diagnostic& it) { return it.where.begin; });
  return out;
}

std::string suggestion(const Diagnostics& so_far, std::string_view name,
                       std::span<const std::string_view> candidates) {
  if (!so_far.may_suggest() || candidates.size() > most_candidates) return {};
  return fairlead::did_you_mean(name, candidates);
}

std::string shown(const Diagnostic& diagnostic, const SourceFile& source) {
  std::string out =
      fmt::format("{}: {}: {}\n", source.where(diagnostic.where),
                  diagnostic.severity == Severity::error ? "error" : "warning", diagnostic.message);
  out += quoted_line(diagnostic.where, source);
  for (const Note& remark : diagnostic.remarks)
    out += fmt::format("  {}: {}\n", source.where(remark.where), remark.text);
  return out;
}

std::string shown(const Diagnostics& diagnostics, const SourceFile& source, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  for (const Diagnostic& it : diagnostics.sorted())
    if (count++ < most) out += shown(it, source);
  if (count > most) out += fmt::format("{}: and {} more\n", source.name(), count - most);
  return out;
}

}  // namespace fairlead::jdf
