// Where a drawn run takes place: how many workers, how little memory, which policy and which devices.
#pragma once
#include <fairlead/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace fairlead::torture {

enum class Devices : std::uint8_t { none, some, always };

/// Sizes that decide how little memory is little.
struct Needs {
  Bytes tile_bytes;   ///< one tile, as the allocator rounds it
  Bytes total_bytes;  ///< all of them
};

/// As command line options say it, so that a run of the library and one of the program are drawn alike.
struct Machine {
  int workers = 1;
  Bytes memory = 0;
  std::string scheduler{};  ///< empty: as Fairlead chooses
  /// Each as "emulated:...", the memory apart.
  struct Device {
    Bytes memory;
    std::string rest;
  };
  std::vector<Device> devices{};
  std::vector<std::string> options{};  ///< others, as "--spin=0"

  /// All of it as options; `beside`: memory that the program needs besides that for tiles.
  std::vector<std::string> words(Bytes beside = 0) const;
  std::string text() const;
  Config config() const;
  /// For another attempt, when tasks did not fit.
  void grow();
};

/// `index` goes through the policies one by one, so that none is left out.
Machine draw_machine(Random& random, std::uint64_t index, const Needs& needs, Devices devices);

/// Rounds as the allocator and the spill file do.
Bytes rounded_up(Bytes bytes);

}  // namespace fairlead::torture
