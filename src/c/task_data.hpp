// Data of the C interface: single ones, and the tiles of matrices.
#pragma once
#include <fairlead/handle.hpp>
#include <fairlead/strided.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <fairlead_tasks.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "c/task_runtime.hpp"

struct fairlead_datum {
  std::shared_ptr<fairlead::c::RuntimeHost> host;
  fairlead::detail::DatumReference reference;
  fairlead::Strided array{};  ///< at home; copies elsewhere are packed
  std::uint64_t element_bytes = 0;
};

struct fairlead_tiles {
  std::shared_ptr<fairlead::c::RuntimeHost> host;
  std::weak_ptr<fairlead::detail::TileCollection> collection;
  std::int64_t tile_rows = 0, tile_columns = 0;
  bool lower_only = false;
  std::vector<fairlead_datum> data{};  ///< by row and column; those above the diagonal may have no datum
};

namespace fairlead::c {

/// Throws UsageError for a value that is none.
AccessMode mode_of(fairlead_access access);
/// The datum at this place.
fairlead_view view_of(const fairlead_datum& datum, fairlead_access access,
                      const fairlead::detail::DatumLocation& location) noexcept;

}  // namespace fairlead::c
