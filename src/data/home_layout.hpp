// The layout of a datum that is not contiguous in the user's memory. Copies into a replica pack it, copies to its
// home unpack it. Replicas in other nodes are always packed.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>

namespace fairlead::data {

/// Runs of bytes at regular distances, such as the columns of a matrix or the rows of a 3-D block; or functions of
/// the user that pack and unpack.
struct HomeLayout {
  Bytes run_bytes = 0;                        ///< bytes of a run, which is contiguous
  std::array<std::uint32_t, 2> counts{1, 1};  ///< runs per group, groups
  std::array<Bytes, 2> strides{0, 0};         ///< bytes between the starts of consecutive runs, and of
                                              ///< consecutive groups
  /// If set, these functions copy the whole datum and the fields above are unused. Called by several threads.
  std::function<void(const void* home, void* packed)> pack_all{};
  std::function<void(const void* packed, void* home)> unpack_all{};

  Bytes packed_bytes() const noexcept { return run_bytes * counts[0] * counts[1]; }
  void pack(const std::byte* home, std::byte* packed) const {
    if (pack_all) return pack_all(home, packed);
    each_run([&](Bytes at_home, Bytes at) { std::memcpy(packed + at, home + at_home, run_bytes); });
  }
  void unpack(const std::byte* packed, std::byte* home) const {
    if (unpack_all) return unpack_all(packed, home);
    each_run([&](Bytes at_home, Bytes at) { std::memcpy(home + at_home, packed + at, run_bytes); });
  }

 private:
  template <class F>
  void each_run(F&& move) const {
    Bytes at = 0;
    for (std::uint32_t group = 0; group < counts[1]; ++group)
      for (std::uint32_t run = 0; run < counts[0]; ++run, at += run_bytes)
        move(group * strides[1] + run * strides[0], at);
  }
};

/// The layout of an array in the user's memory; nothing if it is contiguous. In arrays of two or more dimensions the
/// first index has stride 1.
inline std::optional<HomeLayout> layout_of(const Strided& array, Bytes element_bytes) {
  const auto count = [&](std::size_t i) { return static_cast<std::uint32_t>(array.extents[i]); };
  const auto stride = [&](std::size_t i) { return static_cast<Bytes>(array.strides[i]) * element_bytes; };
  const Strided packed = array.packed();
  bool one_block = true;
  for (std::size_t i = 0; i < 3; ++i)
    one_block &= array.extents[i] == 1 || array.strides[i] == packed.strides[i];
  if (one_block) return std::nullopt;
  if (array.strides[0] != 1)
    return HomeLayout{
        .run_bytes = element_bytes, .counts = {count(0), count(1)}, .strides = {stride(0), stride(1)}};
  return HomeLayout{.run_bytes = static_cast<Bytes>(array.extents[0]) * element_bytes,
                    .counts = {count(1), count(2)},
                    .strides = {stride(1), stride(2)}};
}

}  // namespace fairlead::data
