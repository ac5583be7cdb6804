// One read or write of a file in full, on the calling thread, leaving nothing in the page cache.
#pragma once
#include <fairlead/ids.hpp>

#include <sys/uio.h>

#include <cstdint>
#include <span>

namespace fairlead::backend {

enum class IoDirection : std::uint8_t {
  read,   // file to memory; a file that ends too early is an error (ENODATA)
  write,  // memory to file
};

struct TransferOutcome {
  Bytes bytes = 0;       ///< transferred
  int error_number = 0;  ///< the errno of what ended it early, or 0
  Bytes wrong_at = 0;    ///< for EBADMSG: see IoResult
};

/// Reads or writes all of `parts` (at most 1,024), one behind the other from `offset` on; what the system
/// does in part is continued, for which `parts` is changed. `direct`: the descriptor bypasses the page cache;
/// if it does not, the pages are written out and dropped.
TransferOutcome transfer_in_full(int descriptor, Bytes offset, std::span<iovec> parts, IoDirection direction,
                                 bool direct);

/// Asks for pages that are written out already to leave the page cache.
void drop_clean_pages(int descriptor, Bytes offset, Bytes bytes) noexcept;

}  // namespace fairlead::backend
