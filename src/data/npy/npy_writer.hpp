// Writes a matrix or vector to a NumPy .npy file block by block. The file appears complete at commit(), or not at all
// (data/output/output_file.hpp).
#pragma once
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "data/npy/npy_header.hpp"
#include "data/output/output_file.hpp"

namespace fairlead::data {

class NpyWriter {
 public:
  /// `shape` has one or two dimensions, none of them 0 (otherwise UsageError). Allocates the whole disk space. Throws
  /// SystemError naming the path, as OutputFile.
  NpyWriter(const std::filesystem::path& path, ElementType element, StorageOrder order,
            std::vector<std::uint64_t> shape);

  const std::filesystem::path& path() const noexcept { return file_.path(); }
  /// as OutputFile::temporary()
  const std::filesystem::path& temporary() const noexcept { return file_.temporary(); }

  /// Writes the `row_count` x `column_count` elements from (row, column) on, from column-major memory with leading
  /// dimension `ld`. T: the element type of the file. Each element must be written exactly once.
  /// Any number of threads may write at once. `staging` as in NpyFile::read_block(), used for C order only. Throws
  /// UsageError (outside of the matrix, other type), SystemError naming path and bytes.
  template <class T>
  void write_block(std::uint64_t row, std::uint64_t row_count, std::uint64_t column,
                   std::uint64_t column_count, const T* in, std::uint64_t ld,
                   std::span<std::byte> staging = {});

  /// Makes the file visible. Throws UsageError if elements are missing, SystemError if the disk fails; then an old
  /// file still exists.
  void commit();

 private:
  std::uint64_t columns() const noexcept { return header_.shape.size() == 2 ? header_.shape[1] : 1; }

  NpyHeader header_;
  OutputFile file_;
  std::atomic<std::uint64_t> written_ = 0;  // elements
};

extern template void NpyWriter::write_block<float>(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                                   const float*, std::uint64_t, std::span<std::byte>);
extern template void NpyWriter::write_block<double>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                    std::uint64_t, const double*, std::uint64_t,
                                                    std::span<std::byte>);
extern template void NpyWriter::write_block<std::complex<float>>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                                 std::uint64_t, const std::complex<float>*,
                                                                 std::uint64_t, std::span<std::byte>);
extern template void NpyWriter::write_block<std::complex<double>>(std::uint64_t, std::uint64_t, std::uint64_t,
                                                                  std::uint64_t, const std::complex<double>*,
                                                                  std::uint64_t, std::span<std::byte>);

}  // namespace fairlead::data
