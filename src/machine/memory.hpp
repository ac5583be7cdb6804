// How much memory there is, and how much of it a run may take without being told.
#pragma once
#include <fairlead/ids.hpp>

#include "machine/system_files.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::machine {

struct Memory {
  Bytes total_bytes = 0;             ///< of the machine
  Bytes available_bytes = 0;         ///< of the machine: what the kernel can give without swapping
  std::optional<Bytes> limit_bytes;  ///< of what leaves the least room, a control group or the address space;
                                     ///< none if nothing limits
  Bytes limit_used_bytes = 0;        ///< what counts against it already
  std::string limit_source;          ///< the file that says so, or what it is
  Bytes free_bytes = 0;              ///< the least of what is available and of the room in every limit
  Bytes margin_bytes = 0;
  /// Addresses that are left to this process; none if nothing limits them.
  std::optional<Bytes> address_room;
  /// What a run may take if nobody says how much.
  Bytes usable_bytes() const noexcept { return free_bytes - margin_bytes; }
};

/// What stays free for the code, thread stacks, the BLAS library and other programs: a tenth of what is free,
/// at least 256 MiB, but never more than half.
Bytes margin_of(Bytes free_bytes) noexcept;

/// Stack and what malloc keeps for a thread.
inline constexpr Bytes addresses_of_each_thread = Bytes(12) << 20;
/// Besides, a buffer of OpenBLAS, where these are largest.
inline constexpr Bytes addresses_of_each_worker = addresses_of_each_thread + (Bytes(128) << 20);

/// `workers`: threads that will run tasks; they count where addresses are limited.
Memory memory(const SystemFiles& files, unsigned workers = 1);

enum class HugePages : std::uint8_t {
  unavailable,  // the kernel has none
  never,        // switched off
  madvise,      // for memory that asks for them, as Fairlead's pools do
  always,
};
std::string_view name_of(HugePages mode) noexcept;

struct Pages {
  Bytes page_bytes = 4096;
  HugePages huge_pages = HugePages::unavailable;  ///< transparent ones
  Bytes huge_page_bytes = 0;                      ///< 0: unavailable
};

Pages pages(const SystemFiles& files);

}  // namespace fairlead::machine
