// The accesses of a task before its insertion: each datum once, and for each parameter the index of its
// access.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/submission_recorder.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead::front {

inline constexpr std::size_t most_data = 64, most_uses = 256;

/// Lives on the stack of the submitting thread. Array elements beyond `count` are uninitialized.
struct FlowSource::Gathered {
  std::array<graph::Insertion, most_data> insertions;
  std::array<std::uint8_t, most_uses> access_of_use;
  std::size_t count = 0;
  bool views = false;            ///< some data are blocks of a partition, or are partitioned
  bool any_order = false;        ///< some accesses are commutative or reductions
  bool reduced = false;          ///< some data are being reduced
  bool first_write = false;      ///< some data are written for the first time
  bool all_on_fast_path = true;  ///< all data are in generation `fast_path` of the fast path
  std::uint32_t fast_path = 0;   ///< generation; 0: closed
  Bytes footprint = 0;           ///< bytes of all data, rounded as by the allocator
  Bytes host_footprint = 0;      ///< bytes of the data that cores do not use in place

  std::span<const graph::Insertion> all() const { return std::span(insertions).first(count); }
  std::vector<engine::SubmissionRecorder::Use> uses_of(const Submission& submission) const {
    std::vector<engine::SubmissionRecorder::Use> uses(count);
    for (std::size_t i = 0; i < submission.uses.size(); ++i)
      uses[access_of_use[i]] = {submission.uses[i].datum, insertions[access_of_use[i]].mode};
    return uses;
  }
};

}  // namespace fairlead::front
