// What is about to be inserted: its data, each once, and which of them each parameter is.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/submission_book.hpp"
#include "front/flow/flow_source.hpp"

namespace fairlead::front {

inline constexpr std::size_t most_data = 64, most_uses = 256;

/// On the submitter's stack; left uninitialized as far as it is not used.
struct FlowSource::Gathered {
  std::array<graph::Insertion, most_data> insertions;
  std::array<std::uint8_t, most_uses> access_of_use;
  std::size_t count = 0;
  bool views = false;        ///< some of them are parts, or have parts
  bool any_order = false;    ///< some are changed in any order
  bool reduced = false;      ///< some are being reduced
  bool first_write = false;  ///< some are written for the first time
  bool all_in_lane = true;   ///< in the generation `lane` of the direct lane
  std::uint32_t lane = 0;
  Bytes footprint = 0;       ///< of all data, as the allocator rounds them
  Bytes host_footprint = 0;  ///< without those that cores use in place

  std::span<const graph::Insertion> all() const { return std::span(insertions).first(count); }
  std::vector<engine::SubmissionBook::Use> uses_of(const Submission& submission) const {
    std::vector<engine::SubmissionBook::Use> uses(count);
    for (std::size_t i = 0; i < submission.uses.size(); ++i)
      uses[access_of_use[i]] = {submission.uses[i].datum, insertions[access_of_use[i]].mode};
    return uses;
  }
};

}  // namespace fairlead::front
