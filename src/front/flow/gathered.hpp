// The accesses of a task before its insertion: each datum once, and for each parameter the index of its
// access.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/small_array.hpp"
#include "engine/submission_recorder.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead::front {

/// The indices of accesses, and their number in a task's descriptor, have 16 bits.
inline constexpr std::size_t most_data = std::numeric_limits<detail::AccessIndex>::max();
/// Tasks with at most this many data need no allocation.
inline constexpr std::size_t few_data = 32;

/// Finds the access of a datum: among few data by a scan, among many by a hash table.
class AccessesOfData {
 public:
  explicit AccessesOfData(std::size_t most) {
    if (most > few_data) table_.resize(std::bit_ceil(2 * most));
  }
  /// The index of the datum in `insertions`, or their number; then the caller appends it.
  std::size_t find_or_add(DatumId datum, std::span<const graph::Insertion> insertions) {
    if (table_.empty()) [[likely]] {
      std::size_t same = 0;
      while (same < insertions.size() && insertions[same].datum != datum) ++same;
      return same;
    }
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (index(datum) * std::size_t{0x9e37'79b9u}) & mask;
    for (; table_[at] != 0; at = (at + 1) & mask)
      if (insertions[table_[at] - 1].datum == datum) return table_[at] - 1;
    table_[at] = static_cast<std::uint32_t>(insertions.size()) + 1;
    return insertions.size();
  }

 private:
  std::vector<std::uint32_t> table_;  // access index + 1; 0: free. Linear probing, at most half full
};

/// Lives on the stack of the submitting thread. Array elements beyond `count` are uninitialized.
struct FlowSource::Gathered {
  explicit Gathered(const Submission& submission)
      : insertions(submission.uses.size()), access_of_use(submission.uses.size()) {}

  SmallArray<graph::Insertion, few_data> insertions;
  SmallArray<detail::AccessIndex, few_data> access_of_use;
  std::size_t count = 0;
  bool views = false;            ///< some data are blocks of a partition, or are partitioned
  bool any_order = false;        ///< some accesses are commutative or reductions
  bool reduced = false;          ///< some data are being reduced
  bool first_write = false;      ///< some data are written for the first time
  bool all_on_fast_path = true;  ///< all data are in generation `fast_path` of the fast path
  std::uint32_t fast_path = 0;   ///< generation; 0: closed
  Bytes footprint = 0;           ///< bytes of all data, rounded as by the allocator
  Bytes host_footprint = 0;      ///< bytes of the data that cores do not use in place

  std::span<const graph::Insertion> all() const { return insertions.all().first(count); }
  std::vector<engine::SubmissionRecorder::Use> uses_of(const Submission& submission) const {
    std::vector<engine::SubmissionRecorder::Use> uses(count);
    for (std::size_t i = 0; i < submission.uses.size(); ++i)
      uses[access_of_use[i]] = {submission.uses[i].datum, insertions[access_of_use[i]].mode};
    return uses;
  }
};

}  // namespace fairlead::front
