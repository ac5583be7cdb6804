// A datum split into parts that tasks use for themselves. The whole can still be used: what changes it comes
// before or after the tasks on its parts, in program order, and what is on its way is sent home in between.
//
//   auto blocks = runtime.split(a, 256, 256);          // a: a matrix of the program's, one datum
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
/// Throws UsageError if there is no such part, or no partition: `parts` is null where it was moved from.
PartReference part_of(const PartCollection* parts, const std::array<std::int64_t, 3>& at);
std::int64_t count_of(const PartCollection& parts, std::size_t dimension) noexcept;
}  // namespace detail

/// Its parts exist as long as it does; its end waits for the tasks that use them, and makes the datum a whole
/// again. Handles of parts are refused afterwards. Movable, not copyable.
template <Array T>
class Partition {
 public:
  explicit Partition(std::shared_ptr<detail::PartCollection> parts) noexcept : parts_(std::move(parts)) {}
  Partition(Partition&&) noexcept = default;
  Partition& operator=(Partition&&) noexcept = default;

  /// Part (i, j, k), counted like elements. Throws UsageError if there is none.
  Handle<T> operator()(std::int64_t i, std::int64_t j = 0, std::int64_t k = 0) const {
    const detail::PartReference part = detail::part_of(parts_.get(), {i, j, k});
    return {part.datum, T::shaped(part.shape)};
  }
  /// How many parts there are in this direction.
  std::int64_t parts(std::size_t dimension = 0) const noexcept {
    return detail::count_of(*parts_, dimension);
  }

 private:
  std::shared_ptr<detail::PartCollection> parts_;
};

}  // namespace fairlead
