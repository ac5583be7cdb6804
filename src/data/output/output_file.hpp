// A file that appears complete or not at all. It is written without a name in its directory and named when complete.
// If the program ends before, nothing is left, and an old file of that name is unchanged. Only SIGKILL can leave a
// temporary file: where the file system lacks unnamed files, or between the two calls that replace an old file (there
// a second Ctrl-C can, too). The next output of that name removes it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

#include <fairlead/ids.hpp>
#include "base/file_descriptor.hpp"

namespace fairlead::data {

class OutputFile {
 public:
  /// Opens the unnamed file and allocates `bytes` on the disk, so that a full disk is an error now and not hours
  /// later. If `path` is a symbolic link, its target is replaced or made; "-" is rejected. Throws SystemError naming
  /// the path: no such directory, no permission, not a regular file, not replaceable, no space (with the bytes
  /// needed).
  OutputFile(const std::filesystem::path& path, Bytes bytes);
  OutputFile(OutputFile&&) = default;
  /// Without commit(), discards the file.
  ~OutputFile();

  const std::filesystem::path& path() const noexcept { return path_; }

  /// The temporary name until commit() if the file system lacks unnamed files; otherwise empty.
  const std::filesystem::path& temporary() const noexcept { return temporary_; }

  /// Any number of threads may write at once. Throws SystemError naming path and bytes.
  void write(Bytes offset, std::span<const std::byte> content);

  /// Flushes to the disk and names the file, replacing an old one. Throws SystemError; then an old file still exists.
  void commit();
  /// Flushes all files, then names one after the other with signals blocked in this thread: in a single-threaded
  /// program, a signal that ends it leaves all of them or none. Throws as commit(); the files before the one named in
  /// the error then have their names.
  static void commit_together(std::span<OutputFile* const> files);

 private:
  void open_unnamed();
  void flush();
  void give_name();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // if the file system lacks unnamed files; otherwise empty
  FileDescriptor file_;
};

}  // namespace fairlead::data
