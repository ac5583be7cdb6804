// The interface to record a program's submissions: called by front ends, kept by the runtime.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace fairlead::engine {

struct RegisteredDatum;

/// Used by the application's thread only.
class SubmissionRecorder {
 public:
  struct Use {
    const RegisteredDatum* datum;
    AccessMode mode;
  };

  SubmissionRecorder() = default;
  SubmissionRecorder(const SubmissionRecorder&) = delete;
  SubmissionRecorder& operator=(const SubmissionRecorder&) = delete;
  virtual ~SubmissionRecorder() = default;

  /// The next task in program order. Called before its data count as written by it.
  virtual void task(const detail::Submission& submission, std::span<const Use> uses,
                    bool ordered_explicitly) = 0;
  /// The line for a task of a recording, to be passed to repeat() each time that the recording runs.
  virtual std::string line_of(const detail::Submission& submission, std::span<const Use> uses) = 0;
  virtual void repeat(const std::string& lines, std::size_t tasks) = 0;
  /// The program has waited for all tasks so far.
  virtual void phase_ended() noexcept = 0;
  /// The application has acquired data in between.
  virtual void hold() noexcept = 0;
  /// The rest of the program cannot be recorded.
  virtual void give_up(const std::string& why) = 0;
};

}  // namespace fairlead::engine
