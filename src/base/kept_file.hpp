// A small readable file that processes of one user keep for each other: lines of text under a first line that
// says what it is, and a checksum below. It is written beside its place and renamed, so that readers see a
// whole one, and a lock keeps two writers apart. Whatever else is found in its place is never trusted.
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

/// Fields of a line are separated by tabs: what would break one becomes a blank.
std::string one_field(std::string text);
std::vector<std::string> fields_of(const std::string& line);

class KeptFile {
 public:
  struct Format {
    std::string_view name;  ///< one word
    unsigned version;
    std::string_view explanation;   ///< for whoever opens the file
    unsigned oldest_version = ~0u;  ///< that is understood, too; at most `version`
  };
  struct Content {
    std::vector<std::string> lines;
    /// Why a file that is there is of no use, as the end of a sentence about it; empty if it is, or if there
    /// is none.
    std::string problem;
    bool of_newer_version = false;  ///< then it is best left alone
    unsigned version = 0;           ///< that of the lines
  };

  KeptFile(std::filesystem::path path, Format format) : path_(std::move(path)), format_(format) {}

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Needs no lock.
  Content read() const;
  /// Follows no link. Throws SystemError naming the file; what was there before is then still there.
  void replace(const std::vector<std::string>& lines) const;

  /// Excludes other processes, and other locks of this one, from the time when it is made: for reading what
  /// is to be replaced, and replacing it.
  class Lock {
   public:
    /// Makes the directory if needed, for this user alone. Waits. Throws SystemError naming what cannot be
    /// made or written to.
    explicit Lock(const KeptFile& file);

   private:
    // of a file beside it: the file itself is replaced, and a lock would stay with the old
    FileDescriptor file_;
  };

 private:
  std::filesystem::path path_;
  Format format_;
};

}  // namespace fairlead
