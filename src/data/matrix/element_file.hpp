// A matrix or vector whose elements are adjacent in a file, from some byte on: .npy files and raw files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/matrix/kept_bytes.hpp"
#include "data/matrix/regular_file.hpp"
#include "data/matrix/stored_matrix.hpp"

namespace fairlead::data {

class ElementFile : public StoredMatrix {
 public:
  /// The file is long enough for the layout.
  ElementFile(std::string name, std::shared_ptr<const RegularFile> file, ArrayLayout layout,
              Bytes data_offset);

  Bytes data_offset() const noexcept { return data_offset_; }

  std::shared_ptr<const StoredMatrix> transposed() const final;
  /// Reads in chunks of 1 MiB.
  std::shared_ptr<const StoredMatrix> keeping(Bytes bytes) const final;
  void forget_pages() const noexcept final { file_->forget_pages(); }
  FileVersion version() const noexcept final { return file_->version(); }
  bool changed() const noexcept final { return file_->changed(); }
  Bytes bytes_read() const noexcept final { return file_->bytes_read(); }

 protected:
  void read(const ElementBlock& block, std::span<std::byte> staging, ElementSink& sink) const final;

 private:
  /// The elements of some lines if they are cached; otherwise null. All arguments in elements of the file.
  const std::byte* kept(std::uint64_t first, std::uint64_t lines, std::uint64_t stride,
                        std::uint64_t along) const;

  std::shared_ptr<const RegularFile> file_;  // shared with transposed() and keeping()
  Bytes data_offset_;
  std::shared_ptr<KeptBytes> kept_;  // null: nothing is cached
};

}  // namespace fairlead::data
