// A partition divides a datum into parts that tasks can use individually. The whole datum can still be used. Tasks on
// the whole and tasks on parts are ordered as in the program; changing between them writes modified copies back to the
// home of the datum.
//
//   auto blocks = runtime.split(a, 256, 256);          // a: a matrix in the program's memory, one datum
//   flow.submit(fill(a));
//   flow.submit(factor(blocks(0, 0)));                 // after fill, on the first 256 x 256 elements
//   flow.submit(print(a));                             // after factor
#pragma once
#include <fairlead/handle.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace fairlead {

namespace detail {
class PartCollection;
struct PartReference {
  DatumReference datum;
  Strided shape;
};
/// Throws UsageError if the part does not exist, or if `parts` is null because the partition was moved from.
PartReference part_of(const PartCollection* parts, const std::array<std::int64_t, 3>& at);
std::int64_t count_of(const PartCollection& parts, std::size_t dimension) noexcept;
}  // namespace detail

/// Owns the parts: they exist as long as this object. Its destructor waits for the tasks that use them and restores the
/// whole datum; handles of parts are then rejected. Movable, not copyable.
template <Array T>
class Partition {
 public:
  explicit Partition(std::shared_ptr<detail::PartCollection> parts) noexcept : parts_(std::move(parts)) {}
  Partition(Partition&&) noexcept = default;
  Partition& operator=(Partition&&) noexcept = default;

  /// Part (i, j, k). Throws UsageError if it does not exist.
  Handle<T> operator()(std::int64_t i, std::int64_t j = 0, std::int64_t k = 0) const {
    const detail::PartReference part = detail::part_of(parts_.get(), {i, j, k});
    return {part.datum, T::shaped(part.shape)};
  }
  /// The number of parts along this dimension.
  std::int64_t parts(std::size_t dimension = 0) const noexcept {
    return detail::count_of(*parts_, dimension);
  }

 private:
  std::shared_ptr<detail::PartCollection> parts_;
};

}  // namespace fairlead
