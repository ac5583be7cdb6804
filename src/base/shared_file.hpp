// A small text file that processes of one user share: a first line with format and version, lines of text, a
// checksum. It is written under a temporary name and renamed, so readers always see a complete file; a lock excludes
// concurrent writers. Other content in its place is never trusted.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead {

/// FNV-1a. Not std::hash, which may differ between two builds that share a file.
constexpr std::uint64_t text_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3u;
  return hash;
}

/// Fields are separated by tabs. Replaces tabs and line ends in a field by blanks.
std::string one_field(std::string text);
std::vector<std::string> fields_of(const std::string& line);

/// Why kept files in this directory are not used, as the end of a sentence about it: other users can change them.
/// Empty if they are used, or if the directory does not exist yet.
std::string why_unsafe(const std::filesystem::path& directory);

class SharedFile {
 public:
  struct Format {
    std::string_view name;  ///< one word
    unsigned version;
    std::string_view explanation;   ///< shown to people who open the file
    unsigned oldest_version = ~0u;  ///< the oldest readable version; at most `version`
  };
  struct Content {
    std::vector<std::string> lines;
    /// Why an existing file cannot be used, as the end of a sentence about it. Empty if it can be used or does not
    /// exist.
    std::string problem;
    bool of_newer_version = false;  ///< do not replace the file
    unsigned version = 0;           ///< the version of the lines
  };

  SharedFile(std::filesystem::path path, Format format) : path_(std::move(path)), format_(format) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Makes the directory if needed, with mode 0700. Throws SystemError naming it.
  void make_directory() const;
  /// Needs no lock.
  Content read() const;
  /// Follows no link. Throws SystemError naming the file; the old file then still exists.
  void replace(const std::vector<std::string>& lines) const;

  /// Excludes other processes, and other locks of this process, during its lifetime. Hold it from reading to
  /// replacing.
  class Lock {
   public:
    /// Makes the directory if needed, with mode 0700. Blocks. Throws SystemError naming what cannot be made or
    /// written.
    explicit Lock(const SharedFile& file);

   private:
    // Locks a separate file: the file itself is replaced, and its lock would stay with the old inode.
    FileDescriptor file_;
  };

 private:
  std::filesystem::path path_;
  Format format_;
};

}  // namespace fairlead
