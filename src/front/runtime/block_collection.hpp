// The registered blocks of one partition. Their homes are regions of the whole datum's home.
#pragma once
#include <fairlead/partition.hpp>

#include <array>
#include <deque>
#include <string>

#include "data/home_layout.hpp"
#include "front/runtime/single_data.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::detail {

class PartCollection {
 public:
  /// Splits the datum into blocks of `extents`; the last ones may be smaller. `alignment`: required of offsets on disk,
  /// in bytes. Throws UsageError if this split is not possible.
  PartCollection(engine::RuntimeCore& core, front::DatumStore& store, front::SingleDatum& whole,
                 const std::array<std::int64_t, 3>& extents, std::size_t dimensions, Bytes alignment);
  PartCollection(const PartCollection&) = delete;
  PartCollection& operator=(const PartCollection&) = delete;
  /// Waits for unfinished tasks and makes the whole datum the active view. Returns false if blocks are still in use or
  /// waiting is not allowed: then nothing changes, and this object must be kept until the runtime ends.
  bool release() noexcept;

  const std::array<std::int64_t, 3>& counts() const noexcept { return counts_; }
  PartReference part(const std::array<std::int64_t, 3>& at) const;

 private:
  Strided shape_of(const std::array<std::int64_t, 3>& at) const noexcept;
  std::array<std::int64_t, 3> place_of(std::size_t position) const noexcept;
  std::string text_of(std::size_t position) const;
  const data::HomeLayout* layout_for(const Strided& shape);
  void remove_all() noexcept;

  engine::RuntimeCore& core_;
  front::DatumStore& store_;
  front::SingleDatum& whole_;
  std::array<std::int64_t, 3> extents_, counts_;
  std::size_t dimensions_;
  engine::RegisteredView view_;
  std::deque<data::HomeLayout> layouts_;  // of blocks in the user's memory, one per shape
};

}  // namespace fairlead::detail
