// Calls zlib, zstd, LZ4 and Blosc. Their headers are not needed: these are the stable parts of their binary interfaces.
#include "data/matrix/decompressor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <fairlead/error.hpp>
#include <utility>
#include <vector>

#include "base/shared_library.hpp"

namespace fairlead::data {
namespace {

/// z_stream of zlib.h.
struct ZlibStream {
  const std::byte* next_in = nullptr;
  unsigned avail_in = 0;
  unsigned long total_in = 0;
  std::byte* next_out = nullptr;
  unsigned avail_out = 0;
  unsigned long total_out = 0;
  const char* message = nullptr;
  void* state = nullptr;
  void* (*allocate)(void*, unsigned, unsigned) = nullptr;
  void (*release)(void*, void*) = nullptr;
  void* opaque = nullptr;
  int data_type = 0;
  unsigned long adler = 0;
  unsigned long reserved = 0;
};

class Zlib final : public Decompressor {
 public:
  explicit Zlib(const SharedLibrary& library)
      : begin_(library.require<int(ZlibStream*, int, const char*, int)>("inflateInit2_")),
        inflate_(library.require<int(ZlibStream*, int)>("inflate")),
        end_(library.require<int(ZlibStream*)>("inflateEnd")) {}

  std::string decompress(std::span<const std::byte> from, std::span<std::byte> into) const override {
    constexpr int window_bits = 15 + 32;  // zlib or gzip, by the header
    ZlibStream stream;
    if (begin_(&stream, window_bits, "1", sizeof(ZlibStream)) != ok) return "zlib cannot be initialized";
    const std::string reason = inflate_all(stream, from, into);
    end_(&stream);
    return reason;
  }

 private:
  static constexpr int ok = 0, stream_end = 1, buffer_error = -5, no_flush = 0;

  std::string inflate_all(ZlibStream& stream, std::span<const std::byte> from,
                          std::span<std::byte> into) const {
    constexpr std::size_t most = UINT_MAX / 2;  // bytes per call
    const std::byte* in = from.data();
    std::byte* out = into.data();
    while (true) {
      std::byte excess{};  // the end of the stream may follow the last byte
      const bool full = out == into.data() + into.size();
      stream.next_in = in;
      stream.avail_in =
          static_cast<unsigned>(std::min(most, static_cast<std::size_t>(from.data() + from.size() - in)));
      stream.next_out = full ? &excess : out;
      stream.avail_out = static_cast<unsigned>(
          full ? 1 : std::min(most, static_cast<std::size_t>(into.data() + into.size() - out)));
      const int state = inflate_(&stream, no_flush);
      if (full && stream.avail_out == 0) return fmt::format("it has more than {} bytes", into.size());
      in = stream.next_in;
      if (!full) out = stream.next_out;
      if (state == stream_end && out == into.data() + into.size()) return {};
      if (state == stream_end || state == buffer_error) return "it ends too early";
      if (state != ok)
        return stream.message != nullptr ? stream.message : fmt::format("zlib: error {}", state);
    }
  }

  int (*begin_)(ZlibStream*, int, const char*, int);
  int (*inflate_)(ZlibStream*, int);
  int (*end_)(ZlibStream*);
};

std::string wrong_size(std::uint64_t bytes, std::uint64_t expected) {
  return bytes == expected ? std::string() : fmt::format("it has {} bytes in place of {}", bytes, expected);
}

class Zstd final : public Decompressor {
 public:
  explicit Zstd(const SharedLibrary& library)
      : decompress_(
            library.require<std::size_t(void*, std::size_t, const void*, std::size_t)>("ZSTD_decompress")),
        is_error_(library.require<unsigned(std::size_t)>("ZSTD_isError")),
        error_name_(library.require<const char*(std::size_t)>("ZSTD_getErrorName")) {}

  std::string decompress(std::span<const std::byte> from, std::span<std::byte> into) const override {
    const std::size_t bytes = decompress_(into.data(), into.size(), from.data(), from.size());
    return is_error_(bytes) != 0 ? error_name_(bytes) : wrong_size(bytes, into.size());
  }

 private:
  std::size_t (*decompress_)(void*, std::size_t, const void*, std::size_t);
  unsigned (*is_error_)(std::size_t);
  const char* (*error_name_)(std::size_t);
};

/// As numcodecs writes it: the size in four bytes, then one block.
class Lz4 final : public Decompressor {
 public:
  explicit Lz4(const SharedLibrary& library)
      : decompress_(library.require<int(const char*, char*, int, int)>("LZ4_decompress_safe")) {}

  std::string decompress(std::span<const std::byte> from, std::span<std::byte> into) const override {
    constexpr std::size_t header = 4;
    if (from.size() < header) return "it ends too early";
    if (from.size() > INT_MAX || into.size() > INT_MAX) return "it has more than 2 GiB";
    const int bytes =
        decompress_(reinterpret_cast<const char*>(from.data() + header), reinterpret_cast<char*>(into.data()),
                    static_cast<int>(from.size() - header), static_cast<int>(into.size()));
    return bytes < 0 ? "it is damaged" : wrong_size(static_cast<std::uint64_t>(bytes), into.size());
  }

 private:
  int (*decompress_)(const char*, char*, int, int);
};

class Blosc final : public Decompressor {
 public:
  explicit Blosc(const SharedLibrary& library)
      : validate_(library.require<int(const void*, std::size_t, std::size_t*)>("blosc_cbuffer_validate")),
        decompress_(library.require<int(const void*, void*, std::size_t, int)>("blosc_decompress_ctx")) {}

  std::string decompress(std::span<const std::byte> from, std::span<std::byte> into) const override {
    std::size_t bytes = 0;
    if (validate_(from.data(), from.size(), &bytes) != 0) return "it is damaged";
    if (bytes != into.size()) return wrong_size(bytes, into.size());
    const int got = decompress_(from.data(), into.data(), into.size(), 1);
    return got < 0 ? "it is damaged, or compressed by a library that Blosc was built without"
                   : wrong_size(static_cast<std::uint64_t>(got), into.size());
  }

 private:
  int (*validate_)(const void*, std::size_t, std::size_t*);
  int (*decompress_)(const void*, void*, std::size_t, int);
};

template <class Codec>
std::shared_ptr<const Decompressor> make_codec(const SharedLibrary& library) {
  return std::make_shared<const Codec>(library);
}

struct CodecLibrary {
  const char *codec, *library, *package;
  std::shared_ptr<const Decompressor> (*make)(const SharedLibrary&);
};
constexpr CodecLibrary codec_libraries[] = {{"zlib", "libz.so.1", "zlib1g", make_codec<Zlib>},
                                            {"gzip", "libz.so.1", "zlib1g", make_codec<Zlib>},
                                            {"zstd", "libzstd.so.1", "libzstd1", make_codec<Zstd>},
                                            {"lz4", "liblz4.so.1", "liblz4-1", make_codec<Lz4>},
                                            {"blosc", "libblosc.so.1", "libblosc1", make_codec<Blosc>}};

}  // namespace

std::shared_ptr<const Decompressor> load_decompressor(const std::string& codec, const std::string& name) {
  const auto* const found =
      std::ranges::find_if(codec_libraries, [&](const CodecLibrary& one) { return codec == one.codec; });
  if (found == std::end(codec_libraries))
    throw InputError(fmt::format(
        "{}: is compressed by '{}', which is not supported; supported are zlib, gzip, zstd, lz4 and blosc",
        name, codec));
  try {
    return found->make(SharedLibrary::open(found->library));
  } catch (const SystemError& error) {
    throw InputError(
        fmt::format("{}: is compressed by {}, which needs the library {} (Debian: apt install {}): {}", name,
                    codec, found->library, found->package, error.what()));
  }
}

}  // namespace fairlead::data
