// Data of the C interface: creation, and their use by the program.
#include "c/task_data.hpp"

#include <fairlead/detail/description.hpp>
#include <fairlead/error.hpp>
#include <fairlead/factorization.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "c/status.hpp"
#include "c/versioned_struct.hpp"
#include "front/runtime/runtime_access.hpp"

struct fairlead_hold {
  std::shared_ptr<fairlead::c::RuntimeHost> host;
  std::shared_ptr<fairlead::engine::OpenHold> record;
};

namespace fairlead::c {

namespace {

using fairlead::detail::DatumLocation;
using fairlead::detail::Submission;

constexpr std::uint64_t most_element_bytes = std::uint64_t{1} << 20;

std::uint64_t checked_element_bytes(std::uint64_t bytes) {
  if (bytes < 1 || bytes > most_element_bytes)
    throw UsageError(fmt::format("elements of {} bytes: 1 to {} are possible", bytes, most_element_bytes));
  return bytes;
}

Strided array_of(const fairlead_layout& layout) {
  if (layout.dimensions < 0 || layout.dimensions > 3)
    throw UsageError(fmt::format("an array of {} dimensions: 0 to 3 are possible", layout.dimensions));
  const auto dimensions = static_cast<std::size_t>(layout.dimensions);
  Strided array;
  array.strides = {};
  bool any_stride = false;
  for (std::size_t i = 0; i < dimensions; ++i) {
    array.extents[i] = layout.extents[i];
    array.strides[i] = layout.strides[i];
    any_stride |= layout.strides[i] != 0;
  }
  if (!any_stride) return array.packed();
  if (dimensions == 0) array.strides[0] = 1;
  return array;
}

/// What the runtime computes instead of storing it, until a task writes it.
fairlead::detail::Fill fill_of(fairlead_content content, std::uint64_t element_bytes) {
  switch (content) {
    case FAIRLEAD_NO_VALUE:
      return {};
    case FAIRLEAD_ZEROS:
      return [element_bytes](void* to, std::int64_t, std::int64_t rows, std::int64_t, std::int64_t columns) {
        std::memset(to, 0, static_cast<std::size_t>(rows * columns) * element_bytes);
      };
    case FAIRLEAD_HAS_VALUE:
      break;
  }
  throw UsageError("the content of data in the runtime's memory is FAIRLEAD_NO_VALUE or FAIRLEAD_ZEROS");
}

fairlead::detail::Description description_of(const fairlead_layout& layout, void* memory,
                                             fairlead_content content) {
  fairlead::detail::Description as{.kind = "datum",
                                   .kept = memory == nullptr,
                                   .address = memory,
                                   .array = array_of(layout),
                                   .element_bytes = checked_element_bytes(layout.element_bytes)};
  if (as.kept)
    as.fill = fill_of(content, layout.element_bytes);
  else if (content != FAIRLEAD_HAS_VALUE)
    throw UsageError("the content of a datum in the program's memory is FAIRLEAD_HAS_VALUE");
  return as;
}

std::shared_ptr<engine::OpenHold> hold_of(RuntimeHost& host, const std::stop_token& stop,
                                          const fairlead_datum& datum, AccessMode mode) {
  front::FlowSource& flow = host.host_accesses();
  const Submission::Use use{datum.reference.datum, mode, datum.reference.generation};
  Submission wanted;
  wanted.uses = {&use, 1};
  wanted.file = "the program";
  std::vector<fairlead::detail::AccessIndex> access_of_use;
  try {
    const std::stop_callback on_stop(stop, [&flow] { flow.cancel(); });
    return flow.acquire(wanted, access_of_use);
  } catch (const TaskError&) {
    if (!stop.stop_requested()) throw;
  }
  host.renew_host_accesses();
  throw linalg::CancelledError("the access to a datum was cancelled");
}

/// Calls body(view) while the program holds the datum.
template <class Body>
void with_hold(fairlead_datum& datum, fairlead_access access, const Body& body) {
  RuntimeHost& host = *datum.host;
  host.run([&](const std::stop_token& stop) {
    const auto record = hold_of(host, stop, datum, mode_of(access));
    body(view_of(datum, access, record->locations[0]));
    front::core_of(host.runtime()).holds().release(*record);
  });
}

/// Copies between the datum and the program's memory. copy(at the datum, at the program, bytes).
template <class Copy>
void for_each_run(const fairlead_view& view, const std::int64_t* byte_strides, const Copy& copy) {
  const auto bytes = static_cast<std::int64_t>(view.element_bytes);
  const std::array<std::int64_t, 3> packed{bytes, bytes * view.extents[0],
                                           bytes * view.extents[0] * view.extents[1]};
  const std::int64_t* const outside = byte_strides != nullptr ? byte_strides : packed.data();
  const bool whole = outside[0] == bytes && view.strides[0] == 1;  // the first dimension at once
  const std::int64_t run = whole ? view.extents[0] : 1;
  for (std::int64_t k = 0; k < view.extents[2]; ++k)
    for (std::int64_t j = 0; j < view.extents[1]; ++j)
      for (std::int64_t i = 0; i < view.extents[0]; i += run)
        copy((i * view.strides[0] + j * view.strides[1] + k * view.strides[2]) * bytes,
             i * outside[0] + j * outside[1] + k * outside[2], static_cast<std::size_t>(run * bytes));
}

std::int64_t ceiling_of(std::int64_t elements, std::int32_t tile) noexcept {
  return (elements + tile - 1) / tile;
}

void fill_tiles(fairlead_tiles& tiles, fairlead::detail::TileCollection& collection,
                std::uint64_t element_bytes) {
  const fairlead::detail::Tiling& tiling = fairlead::detail::tiling_of(collection);
  tiles.tile_rows = ceiling_of(tiling.rows, tiling.tile.rows);
  tiles.tile_columns = ceiling_of(tiling.columns, tiling.tile.columns);
  tiles.lower_only = tiling.lower_only;
  tiles.data.resize(static_cast<std::size_t>(tiles.tile_rows * tiles.tile_columns));
  for (std::int64_t row = 0; row < tiles.tile_rows; ++row)
    for (std::int64_t column = 0; column < tiles.tile_columns; ++column) {
      if (tiles.lower_only && column > row) continue;
      const std::int64_t rows =
          std::min<std::int64_t>(tiling.tile.rows, tiling.rows - row * tiling.tile.rows);
      const std::int64_t columns =
          std::min<std::int64_t>(tiling.tile.columns, tiling.columns - column * tiling.tile.columns);
      tiles.data[static_cast<std::size_t>(row * tiles.tile_columns + column)] = {
          tiles.host,
          fairlead::detail::tile_of(&collection, static_cast<std::int32_t>(row),
                                    static_cast<std::int32_t>(column)),
          Strided{{rows, columns, 1}, {1, rows, rows * columns}}, element_bytes};
    }
}

}  // namespace

AccessMode mode_of(fairlead_access access) {
  switch (access) {
    case FAIRLEAD_IN:
      return AccessMode::read;
    case FAIRLEAD_OUT:
      return AccessMode::write;
    case FAIRLEAD_INOUT:
      return AccessMode::read_write;
    case FAIRLEAD_COMMUTE:
      return AccessMode::commutative;
  }
  throw UsageError(
      fmt::format("the access mode is {}, which is none of fairlead_access", static_cast<int>(access)));
}

fairlead_view view_of(const fairlead_datum& datum, fairlead_access access,
                      const DatumLocation& location) noexcept {
  const Strided array = location.packed ? datum.array.packed() : datum.array;
  return {.address = location.address,
          .datum = &datum,
          .access = access,
          .element_bytes = datum.element_bytes,
          .extents = {array.extents[0], array.extents[1], array.extents[2]},
          .strides = {array.strides[0], array.strides[1], array.strides[2]}};
}

}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_datum_create(fairlead_runtime* runtime, const char* name,
                                      const fairlead_layout* layout, void* memory, fairlead_content content,
                                      fairlead_datum** datum) {
  return c::status_of([&] {
    c::required(datum, "datum");
    const auto& host = c::required(runtime, "runtime")->host;
    const auto as = c::description_of(*c::required(layout, "layout"), memory, content);
    const std::string text = c::required(name, "name");
    auto made = std::make_unique<fairlead_datum>(fairlead_datum{host, {}, as.array, as.element_bytes});
    host->run(
        [&](const std::stop_token&) { made->reference = front::register_datum(host->runtime(), text, as); });
    *datum = made.release();
  });
}

void fairlead_datum_free(fairlead_datum* datum) {
  if (datum == nullptr) return;
  bool removed = false;
  datum->host->run_last([&](const std::stop_token&) {
    if (!datum->host->closed()) front::remove_datum(datum->host->runtime(), datum->reference);
    removed = true;
  });
  // Tasks may still refer to a datum that cannot be removed now: it is left to the end of the process.
  if (removed) delete datum;
}

fairlead_status fairlead_tiles_create(fairlead_runtime* runtime, const char* name,
                                      const fairlead_tiling* tiling, fairlead_content content,
                                      fairlead_tiles** tiles) {
  return c::status_of([&] {
    c::required(tiles, "tiles");
    const auto& host = c::required(runtime, "runtime")->host;
    const fairlead_tiling given =
        c::read_versioned(*c::required(tiling, "tiling"), fairlead_tiling{}, "tiling");
    const std::string text = c::required(name, "name");
    const std::uint64_t element_bytes = c::checked_element_bytes(given.element_bytes);
    const detail::Tiling as{given.rows, given.columns, TileSize(given.tile_rows, given.tile_columns),
                            given.lower_only != 0, 0};
    auto fill = c::fill_of(content, element_bytes);
    auto made = std::make_unique<fairlead_tiles>(fairlead_tiles{host, {}});
    host->run([&](const std::stop_token&) {
      auto collection = front::make_tiles(host->runtime(), text, as, element_bytes, std::move(fill));
      c::fill_tiles(*made, *collection, element_bytes);
      made->collection = host->own(std::move(collection));
    });
    *tiles = made.release();
  });
}

fairlead_status fairlead_tiles_at(fairlead_tiles* tiles, int64_t row, int64_t column, fairlead_datum** tile) {
  return c::status_of([&] {
    fairlead_tiles& it = *c::required(tiles, "tiles");
    c::required(tile, "tile");
    if (row < 0 || row >= it.tile_rows || column < 0 || column >= it.tile_columns ||
        (it.lower_only && column > row))
      throw UsageError(fmt::format("there is no tile ({}, {}) in {}{} x {} tiles", row, column,
                                   it.lower_only ? "the lower triangle of " : "", it.tile_rows,
                                   it.tile_columns));
    *tile = &it.data[static_cast<std::size_t>(row * it.tile_columns + column)];
  });
}

void fairlead_tiles_free(fairlead_tiles* tiles) {
  if (tiles == nullptr) return;
  bool removed = false;
  tiles->host->run_last([&](const std::stop_token&) {
    tiles->host->end_tiles(tiles->collection.lock());
    removed = true;
  });
  if (removed) delete tiles;  // otherwise as fairlead_datum_free()
}

fairlead_status fairlead_datum_read(fairlead_datum* datum, void* to, const int64_t* byte_strides) {
  return c::status_of([&] {
    auto* const outside = static_cast<std::byte*>(c::required(to, "to"));
    c::with_hold(*c::required(datum, "datum"), FAIRLEAD_IN, [&](const fairlead_view& view) {
      const auto* const inside = static_cast<const std::byte*>(view.address);
      c::for_each_run(view, byte_strides, [&](std::int64_t here, std::int64_t there, std::size_t bytes) {
        std::memcpy(outside + there, inside + here, bytes);
      });
    });
  });
}

fairlead_status fairlead_datum_write(fairlead_datum* datum, const void* from, const int64_t* byte_strides) {
  return c::status_of([&] {
    const auto* const outside = static_cast<const std::byte*>(c::required(from, "from"));
    c::with_hold(*c::required(datum, "datum"), FAIRLEAD_OUT, [&](const fairlead_view& view) {
      auto* const inside = static_cast<std::byte*>(view.address);
      c::for_each_run(view, byte_strides, [&](std::int64_t here, std::int64_t there, std::size_t bytes) {
        std::memcpy(inside + here, outside + there, bytes);
      });
    });
  });
}

fairlead_status fairlead_datum_acquire(fairlead_datum* datum, fairlead_access access, fairlead_view* view,
                                       fairlead_hold** hold) {
  return c::status_of([&] {
    fairlead_datum& it = *c::required(datum, "datum");
    c::required(view, "view");
    c::required(hold, "hold");
    if (access == FAIRLEAD_COMMUTE)
      throw UsageError("a program acquires data with FAIRLEAD_IN, _OUT or _INOUT");
    const AccessMode mode = c::mode_of(access);
    auto held = std::make_unique<fairlead_hold>(fairlead_hold{it.host, nullptr});
    it.host->run([&](const std::stop_token& stop) { held->record = c::hold_of(*it.host, stop, it, mode); });
    *view = c::view_of(it, access, held->record->locations[0]);
    *hold = held.release();
  });
}

void fairlead_hold_release(fairlead_hold* hold) {
  if (hold == nullptr) return;
  hold->host->run_last([&](const std::stop_token&) {
    if (!hold->host->closed()) front::core_of(hold->host->runtime()).holds().release(*hold->record);
  });
  delete hold;
}
