// The index names its file of data, so replacing the index switches both at once.
#include "front/checkpoint/checkpoint_directory.hpp"

#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "backend/disk/checksums.hpp"
#include "base/full_transfer.hpp"
#include "data/output/output_file.hpp"

namespace fairlead::front {

namespace {

constexpr std::string_view prefix_of_data = "data-";

[[noreturn]] void fail_at(const std::filesystem::path& path, std::string_view what, int error) {
  throw SystemError(fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(error)));
}

/// 0: it is not the name of a file of data.
std::uint64_t number_of_data_file(std::string_view name) noexcept {
  std::uint64_t number = 0;
  if (!name.starts_with(prefix_of_data)) return 0;
  name.remove_prefix(prefix_of_data.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

bool is_own_name(std::string_view name) noexcept {
  return name == "index" || name == "lock" || name.starts_with(".index.") || number_of_data_file(name) != 0;
}

}  // namespace

CheckpointDirectory::CheckpointDirectory(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  made_ = std::filesystem::create_directory(path_, error);
  if (error) fail_at(path_, "make the directory of the checkpoint", error.value());
  const auto entries = list_directory(path_);
  const auto other = std::ranges::find_if_not(entries, is_own_name);
  if (other != entries.end())
    throw InputError(fmt::format(
        "{}: has the file \"{}\", which is not of a checkpoint; name an empty directory, or one that does "
        "not exist",
        text(), *other));
  lock();
  open_found();
  remove_leftovers();
}

CheckpointDirectory::~CheckpointDirectory() {
  if (!lock_) return;
  if (!has_index_) {
    remove();
    return;
  }
  if (found_ && !data_name_.empty())
    ::unlink((path_ / data_name_).c_str());  // the index names the former file
  ::unlink(lock_path().c_str());
}

void CheckpointDirectory::lock() {
  lock_ = open_file(lock_path(), O_CREAT | O_RDWR);
  if (!lock_) fail_at(lock_path(), "make the file", errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  lock_ = FileDescriptor();
  if (reason != EWOULDBLOCK) fail_at(lock_path(), "lock the file", reason);
  throw UsageError(fmt::format("{}: another run uses this directory of a checkpoint", text()));
}

std::optional<CheckpointIndex> CheckpointDirectory::read_index(const std::filesystem::path& path) {
  const auto content = read_file(path);
  if (content) return CheckpointIndex::decode(path.string(), std::as_bytes(std::span(*content)));
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail_at(path, "read the file", errno);
}

std::optional<CheckpointIndex> CheckpointDirectory::peek(const std::filesystem::path& directory) {
  return read_index(directory / "index");
}

void CheckpointDirectory::open_found() {
  std::optional<CheckpointIndex> read = read_index(index_path());
  if (!read) return;
  CheckpointIndex& index = *read;
  const auto data_path = path_ / index.data_file;
  if (number_of_data_file(index.data_file) == 0)
    throw InputError(
        fmt::format("{}: names the file of data \"{}\"", index_path().string(), index.data_file));
  found_data_ = open_file(data_path, O_RDWR);
  if (!found_data_) {
    if (errno == ENOENT)
      throw InputError(fmt::format("{}: the file of data of the checkpoint is missing", data_path.string()));
    fail_at(data_path, "read the file", errno);
  }
  found_ = std::move(index);
  has_index_ = true;
  free_unused_space();
}

/// Frees the places of the file that the index does not refer to, since the new file of data takes space, too.
void CheckpointDirectory::free_unused_space() const {
  std::vector<std::pair<Bytes, Bytes>> used;  // begin, end
  for (const SavedDatum& datum : found_->data)
    for (const auto& part : datum.sums)
      used.emplace_back(datum.offset + part.offset, datum.offset + part.offset + part.bytes);
  std::ranges::sort(used);
  struct stat status {};
  if (::fstat(found_data_.get(), &status) != 0) return;
  Bytes free_from = 0;
  const auto free_up_to = [&](Bytes end) {
    // A file system that cannot do it keeps the space.
    if (end > free_from)
      static_cast<void>(::fallocate(found_data_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                    static_cast<off_t>(free_from), static_cast<off_t>(end - free_from)));
  };
  for (const auto& [begin, end] : used) {
    free_up_to(begin);
    free_from = std::max(free_from, end);
  }
  free_up_to(static_cast<Bytes>(status.st_size));
}

void CheckpointDirectory::remove_leftovers() const {
  for (const std::string& name : list_directory(path_))
    if (number_of_data_file(name) != 0 && (!found_ || name != found_->data_file))
      ::unlink((path_ / name).c_str());
}

void CheckpointDirectory::discard_found() {
  if (!found_) return;
  ::unlink(index_path().c_str());
  ::unlink((path_ / found_->data_file).c_str());
  found_.reset();
  found_data_ = FileDescriptor();
  has_index_ = false;
}

FileDescriptor CheckpointDirectory::make_data_file() {
  const std::uint64_t last = found_ ? number_of_data_file(found_->data_file) : 0;
  data_name_ = fmt::format("{}{}", prefix_of_data, last + 1);
  FileDescriptor file = open_file(path_ / data_name_, O_CREAT | O_EXCL | O_RDWR);
  if (!file) fail_at(path_ / data_name_, "make the file", errno);
  return file;
}

void CheckpointDirectory::replace_index(CheckpointIndex index) {
  index.data_file = data_name_;
  const std::vector<std::byte> bytes = index.encoded();
  data::OutputFile file(index_path(), bytes.size());
  file.write(0, bytes);
  file.commit();
  has_index_ = true;
  if (!found_) return;
  ::unlink((path_ / found_->data_file).c_str());
  found_.reset();
  found_data_ = FileDescriptor();
}

void CheckpointDirectory::read(const SavedDatum& datum, const backend::Checksums::Sum& part,
                               std::span<std::byte> to) const {
  const Bytes at = datum.offset + part.offset;
  const FullTransferResult result = read_fully_at(found_data_.get(), at, to);
  if (result.bytes < to.size() && result.error != 0)
    fail_at(text(), "read the data of the checkpoint", result.error);
  if (result.bytes < to.size() || !backend::Checksums::matches(to, part.value))
    throw InputError(fmt::format(
        "{}: the data of the checkpoint are damaged: {} bytes at byte {} of {} have another checksum", text(),
        to.size(), at, index_path().string()));
}

void CheckpointDirectory::remove() noexcept {
  if (!lock_) return;
  ::unlink(index_path().c_str());
  for (const std::string& name : list_directory(path_))
    if (number_of_data_file(name) != 0) ::unlink((path_ / name).c_str());
  ::unlink(lock_path().c_str());
  lock_ = FileDescriptor();
  ::rmdir(path_.c_str());
  has_index_ = false;
}

}  // namespace fairlead::front
