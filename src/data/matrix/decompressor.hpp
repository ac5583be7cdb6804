// Decompression of chunks by libraries that are loaded at run time. This is the only file that lists them.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace fairlead::data {

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Decompresses `from` into all of `into`. Returns the reason if that is impossible, or an empty text. Any number of
  /// threads may call it at once.
  virtual std::string decompress(std::span<const std::byte> from, std::span<std::byte> into) const = 0;
};

/// `codec`: zlib, gzip, zstd, lz4 or blosc. `name`: of the matrix. Throws InputError: an unknown codec, or a library
/// that is not installed, with the package that contains it.
std::shared_ptr<const Decompressor> load_decompressor(const std::string& codec, const std::string& name);

}  // namespace fairlead::data
