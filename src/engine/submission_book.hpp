// Who writes down what a program submits, if somebody wants that: told by front ends, kept by the runtime.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace fairlead::engine {

struct RegisteredDatum;

/// The application's thread's.
class SubmissionBook {
 public:
  struct Use {
    const RegisteredDatum* datum;
    AccessMode mode;
  };

  SubmissionBook() = default;
  SubmissionBook(const SubmissionBook&) = delete;
  SubmissionBook& operator=(const SubmissionBook&) = delete;
  virtual ~SubmissionBook() = default;

  /// The next task in program order. Before its data count as written by it.
  virtual void task(const detail::Submission& submission, std::span<const Use> uses,
                    bool ordered_explicitly) = 0;
  /// A task of a recording, which will be run once or many times: its line, for repeat().
  virtual std::string line_of(const detail::Submission& submission, std::span<const Use> uses) = 0;
  virtual void repeat(const std::string& lines, std::size_t tasks) = 0;
  /// The program has waited for all tasks so far.
  virtual void phase_ended() noexcept = 0;
  /// The application has acquired data in between.
  virtual void hold() noexcept = 0;
  /// The rest cannot be written down.
  virtual void give_up(const std::string& why) = 0;
};

}  // namespace fairlead::engine
