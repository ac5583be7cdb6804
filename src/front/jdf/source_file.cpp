// See source.hpp.
#include "front/jdf/source_file.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/file_descriptor.hpp"

namespace fairlead::jdf {

namespace {

constexpr std::size_t largest_source_bytes = std::size_t{64} << 20;

}  // namespace

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  if (text_.size() > largest_source_bytes)
    throw InputError(
        fmt::format("{}: {} bytes are too many for a JDF file: the limit is 64 MiB", name_, text_.size()));
  if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);  // the byte order mark that some editors write
  lines_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') lines_.push_back(static_cast<std::uint32_t>(i + 1));
}

SourceFile SourceFile::read(const std::string& path) {
  std::optional<std::string> text = read_file(path, largest_source_bytes + 1);
  if (!text) throw InputError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return {path, std::move(*text)};
}

std::string_view SourceFile::text(SourceRange range) const noexcept {
  const auto size = static_cast<std::uint32_t>(text_.size());
  const std::uint32_t begin = std::min(range.begin, size), end = std::clamp(range.end, begin, size);
  return std::string_view(text_).substr(begin, end - begin);
}

Position SourceFile::position(std::uint32_t byte) const noexcept {
  byte = std::min(byte, static_cast<std::uint32_t>(text_.size()));
  const auto after = std::ranges::upper_bound(lines_, byte);
  const auto line = static_cast<std::uint32_t>(after - lines_.begin());
  return {line, byte - lines_[line - 1] + 1};
}

std::string SourceFile::where(SourceRange range) const {
  const Position at = position(range.begin);
  return fmt::format("{}:{}:{}", name_, at.line, at.column);
}

std::string_view SourceFile::line(std::uint32_t number) const noexcept {
  if (number < 1 || number > lines_.size()) return {};
  const std::uint32_t begin = lines_[number - 1];
  std::size_t end = text_.find_first_of("\r\n", begin);
  if (end == std::string::npos) end = text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace fairlead::jdf
