// Reads and writes files with factors (docs/factor-files.md).
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/matrix/regular_file.hpp"
#include "data/output/output_file.hpp"
#include "solver/factor_header.hpp"
#include "solver/factor_layout.hpp"

namespace fairlead::solver {

/// The place of a datum in the file, and its content. Written to the file as it is in memory.
struct FactorEntry {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t checksum = 0;  ///< CRC-32C of the bytes
  std::uint32_t part = 0;      ///< FactorPart
};
static_assert(sizeof(FactorEntry) == FactorHeader::bytes_of_entry);

/// A file with factors, open for reading.
class FactorFile {
 public:
  /// Reads the header and the table. Throws InputError that names the file: it cannot be read, is another kind of file,
  /// of a newer version, truncated or damaged.
  explicit FactorFile(const std::filesystem::path& path);

  const std::string& name() const noexcept { return file_.name(); }
  const FactorHeader& header() const noexcept { return decoded_.header; }
  const FactorShape& shape() const noexcept { return header().shape; }
  const FactorLayout& layout() const noexcept { return layout_; }
  /// The bytes of the file.
  Bytes bytes() const noexcept { return file_.bytes(); }
  /// Fills `to` with the bytes of a datum from `first` on. Always reads the whole datum, for its checksum. Any number of
  /// threads may read at once. Throws InputError that names the datum and its place if it is damaged, SystemError if the
  /// system cannot read it.
  void read(std::size_t index, Bytes first, std::span<std::byte> to) const;
  /// The bytes of data read so far; repeated reads count again.
  Bytes bytes_read() const noexcept { return file_.bytes_read(); }
  /// Whether the file was modified since it was opened.
  bool changed() const noexcept { return file_.changed(); }

 private:
  void read_table();
  void read_checked(std::size_t index, std::span<std::byte> content) const;

  data::RegularFile file_;
  DecodedFactorHeader decoded_;
  FactorLayout layout_;
  std::vector<FactorEntry> table_;
};

/// Whether the file at this path starts as a file with factors does; false if it cannot be read.
bool is_factor_file(const std::filesystem::path& path);

/// A file with factors that appears complete or not at all.
class FactorFileWriter {
 public:
  /// Allocates the disk space. Throws SystemError as OutputFile.
  FactorFileWriter(const std::filesystem::path& path, const FactorHeader& header);

  const FactorLayout& layout() const noexcept { return layout_; }
  /// As OutputFile::temporary().
  const std::filesystem::path& temporary() const noexcept { return file_.temporary(); }
  Bytes bytes() const noexcept { return layout_.file_bytes(); }
  /// Writes a datum, exactly once. Several threads may write at once. Throws SystemError.
  void write(std::size_t index, std::span<const std::byte> content);
  /// Completes the file and gives it its name. Throws UsageError if data are missing, SystemError if the disk fails;
  /// then an old file still exists.
  void commit();

 private:
  FactorHeader header_;
  FactorLayout layout_;
  std::vector<FactorEntry> table_;        // each written by one thread
  std::atomic<std::size_t> written_ = 0;  // data
  data::OutputFile file_;
};

}  // namespace fairlead::solver
