// The machine of a random run: workers, memory, policy and devices.
#pragma once
#include <fairlead/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace fairlead::torture {

enum class Devices : std::uint8_t { none, some, always };

/// Sizes from which small memories are drawn.
struct Needs {
  Bytes tile_bytes;   ///< one tile, as the allocator rounds it
  Bytes total_bytes;  ///< all of them
};

/// In terms of command line options, so that runs of the library and of the program are drawn alike.
struct Machine {
  int workers = 1;
  Bytes memory = 0;
  std::string scheduler{};  ///< empty: the default
  /// Each as "emulated:...", the memory apart.
  struct Device {
    Bytes memory;
    std::string rest;
  };
  std::vector<Device> devices{};
  std::vector<std::string> options{};  ///< others, as "--spin=0"

  /// The machine as options; `other_memory`: what the program needs in addition to the memory for tiles.
  std::vector<std::string> words(Bytes other_memory = 0) const;
  std::string text() const;
  Config config() const;
  /// For another attempt, if tasks did not fit.
  void grow();
};

/// `index` selects the policies in turn, so that each is used.
Machine draw_machine(Random& random, std::uint64_t index, const Needs& needs, Devices devices);

/// Rounds like the allocator and the spill file.
Bytes rounded_up(Bytes bytes);

}  // namespace fairlead::torture
