// Checks at submission whether and where a task can run; a task that fits nowhere is rejected at its source line.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstdint>
#include <string>

#include "engine/runtime_core.hpp"

namespace fairlead::front {

using detail::Submission;

/// All functions throw UsageError with the source line of the submission.
class SubmissionFit {
 public:
  explicit SubmissionFit(engine::RuntimeCore& core) noexcept : core_(core) {}

  /// The memory nodes where the task cannot or must not run, as bits. With the setting `fixed-order`, also the nodes of
  /// all but one kind of worker. Throws FootprintError if the task's data fit nowhere.
  std::uint32_t nodes_excluded(const Submission& submission) const;
  /// The same at less cost, if a task of this footprint fits in the memory of every worker.
  std::uint32_t nodes_excluded(const Submission& submission, Bytes footprint) const;
  /// The number of workers that the task uses at once. Adds the nodes with too few workers to `excluded`.
  std::uint16_t workers_wanted(const Submission& submission, std::uint32_t& excluded) const;
  /// Checks that the requested accelerator exists.
  void check_device(const Submission& submission) const;
  /// Checks that the task does not use overlapping views of a datum.
  static void check_views(const Submission& submission);

  /// Describes the submission for messages: text_of() with its data, subject() without.
  static std::string text_of(const Submission& submission);
  static std::string subject(const Submission& submission);

 private:
  /// With a fixed order, the same kind of processor runs the task in every run, because rounding differs between kinds.
  /// A device is preferred. Returns the nodes of all other kinds, as bits.
  std::uint32_t nodes_of_other_kinds(const Submission& submission, std::uint32_t excluded) const;
  engine::RuntimeCore& core_;
};

}  // namespace fairlead::front
