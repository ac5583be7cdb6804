// The accesses of a task before its insertion: each datum once, and for each parameter the index of its
// access.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "engine/submission_recorder.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead::front {

/// The indices of accesses, and their number in a task's descriptor, have 16 bits.
inline constexpr std::size_t most_data = std::numeric_limits<detail::AccessIndex>::max();
/// Tasks with at most this many data need no allocation.
inline constexpr std::size_t few_data = 32;

/// The accesses of a task of many data, which are found by a hash table.
class ManyAccesses {
 public:
  explicit ManyAccesses(std::size_t most)
      : insertions_(std::make_unique_for_overwrite<graph::Insertion[]>(most)),
        access_of_use_(std::make_unique_for_overwrite<detail::AccessIndex[]>(most)),
        table_(std::bit_ceil(2 * most)) {}
  /// The index of the datum among the first `count` insertions, or `count`; then the caller appends it.
  std::size_t find_or_add(DatumId datum, std::size_t count) noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (index(datum) * std::size_t{0x9e37'79b9u}) & mask;
    for (; table_[at] != 0; at = (at + 1) & mask)
      if (insertions_[table_[at] - 1].datum == datum) return table_[at] - 1;
    table_[at] = static_cast<std::uint32_t>(count) + 1;
    return count;
  }

  graph::Insertion* insertions() noexcept { return insertions_.get(); }
  detail::AccessIndex* access_of_use() noexcept { return access_of_use_.get(); }

 private:
  std::unique_ptr<graph::Insertion[]> insertions_;
  std::unique_ptr<detail::AccessIndex[]> access_of_use_;
  std::vector<std::uint32_t> table_;  // access index + 1; 0: free. Linear probing, at most half full
};

/// Lives on the stack of the submitting thread. Array elements beyond `count` are uninitialized.
struct FlowSource::Gathered {
  explicit Gathered(const Submission& submission) {
    if (submission.uses.size() <= few_data) [[likely]]
      return;
    many = std::make_unique<ManyAccesses>(submission.uses.size());
    insertions = many->insertions();
    access_of_use = many->access_of_use();
  }
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;

  std::array<graph::Insertion, few_data> few_insertions;
  std::array<detail::AccessIndex, few_data> few_access_of_use;
  std::unique_ptr<ManyAccesses> many{};
  graph::Insertion* insertions = few_insertions.data();           ///< one for each datum
  detail::AccessIndex* access_of_use = few_access_of_use.data();  ///< by parameter
  std::size_t count = 0;
  bool views = false;            ///< some data are blocks of a partition, or are partitioned
  bool any_order = false;        ///< some accesses are commutative or reductions
  bool reduced = false;          ///< some data are being reduced
  bool first_write = false;      ///< some data are written for the first time
  bool all_on_fast_path = true;  ///< all data are in generation `fast_path` of the fast path
  std::uint32_t fast_path = 0;   ///< generation; 0: closed
  Bytes footprint = 0;           ///< bytes of all data, rounded as by the allocator
  Bytes host_footprint = 0;      ///< bytes of the data that cores do not use in place

  /// The index of the access of the datum, or `count`; then the caller appends it.
  std::size_t find_or_add(DatumId datum) const noexcept {
    if (many != nullptr) [[unlikely]]
      return many->find_or_add(datum, count);
    std::size_t same = 0;
    while (same < count && insertions[same].datum != datum) ++same;
    return same;
  }
  std::span<graph::Insertion> all() noexcept { return {insertions, count}; }
  std::span<const graph::Insertion> all() const noexcept { return {insertions, count}; }
  std::vector<engine::SubmissionRecorder::Use> uses_of(const Submission& submission) const {
    std::vector<engine::SubmissionRecorder::Use> uses(count);
    for (std::size_t i = 0; i < submission.uses.size(); ++i)
      uses[access_of_use[i]] = {submission.uses[i].datum, insertions[access_of_use[i]].mode};
    return uses;
  }
};

}  // namespace fairlead::front
