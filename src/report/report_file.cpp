// Files by way of one without a name; everything else as a stream.
#include "report/report_file.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

namespace fairlead::report {

namespace {

constexpr std::size_t written_together = std::size_t{1} << 20;

/// A directory counts as a file that cannot be written; a terminal or a pipe can be, but not made anew.
bool is_file_or_nothing(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode);
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw SystemError(fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

}  // namespace

ReportFile::ReportFile(std::string path) : path_(std::move(path)) {
  if (is_file_or_nothing(path_)) {
    file_.emplace(path_, 0);
  } else {
    stream_ = open_file(path_, O_WRONLY | O_CREAT | O_TRUNC);
    if (!stream_) fail(path_, errno);
  }
}

void ReportFile::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= written_together) flush();
}

void ReportFile::flush() {
  if (file_) {
    file_->write(written_, std::as_bytes(std::span(buffer_)));
  } else {
    for (std::string_view left = buffer_; !left.empty();) {
      const ssize_t count = ::write(stream_.get(), left.data(), left.size());
      if (count < 0 && errno != EINTR) fail(path_, errno);
      if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void ReportFile::commit() {
  flush();
  if (file_) file_->commit();
}

void require_place_for(const std::string& path) {
  if (is_file_or_nothing(path)) data::OutputFile{path, 0};  // without a name, and gone at once
}

void write_file(const std::string& path, std::string_view text) {
  ReportFile file(path);
  file.append(text);
  file.commit();
}

}  // namespace fairlead::report
