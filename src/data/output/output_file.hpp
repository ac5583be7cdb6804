// A file that appears whole or not at all: written without a name in the directory where it is to be, and
// given its name when complete. Whatever ends the program before that, nothing is left, and a file that had
// the name stays as it was. Only SIGKILL can leave something, under a name of its own beside that: where the
// file system knows no unnamed files, or between the two calls that replace an old file, where a second Ctrl-C can, too. The next
// output of that name takes it away.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

#include <fairlead/ids.hpp>
#include "base/file_descriptor.hpp"

namespace fairlead::data {

class OutputFile {
 public:
  /// Opens the unnamed file and sets `bytes` aside on the disk, so that a full one shows here and not after
  /// hours. If `path` is a link, what it leads to is replaced or made; "-" is no name. Throws SystemError naming the path: no such
  /// directory, no permission, something other than a file has the name or one that cannot be replaced, no
  /// space (with the bytes needed).
  OutputFile(const std::filesystem::path& path, Bytes bytes);
  OutputFile(OutputFile&&) = default;
  /// Without commit(), removes what was written.
  ~OutputFile();

  const std::filesystem::path& path() const noexcept { return path_; }

  /// Where the file system has no files without a name, the one that it has until commit(); else empty.
  const std::filesystem::path& temporary() const noexcept { return temporary_; }

  /// Any number of threads may write at once. Throws SystemError naming path and bytes.
  void write(Bytes offset, std::span<const std::byte> content);

  /// Flushes to the disk and gives the file its name, replacing the one that has it. Throws SystemError; then
  /// the old file, if there is one, is still there.
  void commit();
  /// Flushes all, and then names one right after the other, while this thread is given no signals: in a program that has no
  /// other thread, one that ends it leaves all of them or none. Throws as commit(); the files before the one that the error
  /// names then have their names.
  static void commit_together(std::span<OutputFile* const> files);

 private:
  void open_unnamed();
  void flush();
  void give_name();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // where the file system knows no unnamed files; otherwise empty
  FileDescriptor file_;
};

}  // namespace fairlead::data
