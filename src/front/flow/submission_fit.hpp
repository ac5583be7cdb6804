// Whether what is submitted can run at all, and where: what fits nowhere is refused where it is submitted.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstdint>
#include <string>

#include "engine/runtime_core.hpp"

namespace fairlead::front {

using detail::Submission;

/// All of these throw UsageError, with the line of the program.
class SubmissionFit {
 public:
  explicit SubmissionFit(engine::RuntimeCore& core) noexcept : core_(core) {}

  /// The nodes where it cannot run or may not, as bits. With a fixed order all but those of one kind of worker. Throws FootprintError if its data fit nowhere.
  std::uint32_t nodes_excluded(const Submission& submission) const;
  /// How many workers it takes at once; adds the nodes with too few to those that are excluded.
  std::uint16_t workers_wanted(const Submission& submission, std::uint32_t& excluded) const;
  /// The accelerator that it is to run on is there.
  void check_device(const Submission& submission) const;
  /// Its data do not lie upon each other.
  static void check_views(const Submission& submission);

  /// What is submitted, for messages: with its data, and without.
  static std::string text_of(const Submission& submission);
  static std::string subject(const Submission& submission);

 private:
  /// With a fixed order the same kind of processor computes it in every run, since each rounds in its own way: a device's if it
  /// can. The nodes of all others.
  std::uint32_t of_other_kinds(const Submission& submission, std::uint32_t excluded) const;
  engine::RuntimeCore& core_;
};

}  // namespace fairlead::front
