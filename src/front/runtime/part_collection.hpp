// The parts of one partition, registered: their homes are regions of the whole's.
#pragma once
#include <fairlead/partition.hpp>

#include <array>
#include <deque>
#include <string>

#include "data/layout.hpp"
#include "front/runtime/single_data.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::detail {

class PartCollection {
 public:
  /// Cuts into pieces of `extents`; those at the ends may be smaller. Throws UsageError if that cannot be.
  PartCollection(engine::RuntimeCore& core, front::DatumStore& store, front::SingleDatum& whole,
                 const std::array<std::int64_t, 3>& extents, std::size_t dimensions, Bytes alignment);
  PartCollection(const PartCollection&) = delete;
  PartCollection& operator=(const PartCollection&) = delete;
  /// Waits for unfinished tasks; afterwards the datum is a whole. False if the caller must not wait: then all
  /// stays as it is, and it must stay as long as the runtime.
  bool release() noexcept;

  const std::array<std::int64_t, 3>& counts() const noexcept { return counts_; }
  PartReference part(const std::array<std::int64_t, 3>& at) const;

 private:
  Strided shape_of(const std::array<std::int64_t, 3>& at) const noexcept;
  std::array<std::int64_t, 3> place_of(std::size_t position) const noexcept;
  std::string text_of(std::size_t position) const;
  const data::Layout* layout_for(const Strided& shape);
  void remove_all() noexcept;

  engine::RuntimeCore& core_;
  front::DatumStore& store_;
  front::SingleDatum& whole_;
  std::array<std::int64_t, 3> extents_, counts_;
  std::size_t dimensions_;
  engine::DatumView view_;
  std::deque<data::Layout> layouts_;  // of parts in the user's memory, by shape
};

}  // namespace fairlead::detail
