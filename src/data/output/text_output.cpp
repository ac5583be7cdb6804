// Regular files go through OutputFile, others are written as a stream.
#include "data/output/text_output.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/full_transfer.hpp"

namespace fairlead::data {

namespace {

constexpr std::size_t written_together = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& path, int error) {
  throw SystemError(fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

}  // namespace

bool is_file_or_nothing(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode);
}

TextOutput::TextOutput(std::string path) : path_(std::move(path)) {
  if (is_file_or_nothing(path_)) {
    file_.emplace(path_, 0);
  } else {
    stream_ = open_file(path_, O_WRONLY | O_CREAT | O_TRUNC);
    if (!stream_) fail(path_, errno);
  }
}

void TextOutput::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= written_together) flush();
}

void TextOutput::flush() {
  if (file_) {
    file_->write(written_, std::as_bytes(std::span(buffer_)));
  } else {
    const FullTransferResult done = write_fully(stream_.get(), std::as_bytes(std::span(buffer_)));
    if (done.bytes < buffer_.size()) fail(path_, done.error != 0 ? done.error : ENOSPC);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void TextOutput::commit() { commit_together({this, 1}); }

void TextOutput::commit_together(std::span<TextOutput> texts) {
  std::vector<OutputFile*> files;
  for (TextOutput& text : texts) {
    text.flush();
    if (text.file_) files.push_back(&*text.file_);
  }
  OutputFile::commit_together(files);
}

}  // namespace fairlead::data
