// A flow written down while it is submitted, for `fairlead simulate --recorded`: data, codelets and tasks in
// program order, a line each. Read by simulate/flow_file.hpp, which says what a line means.
#pragma once
#include <fairlead/detail/submission.hpp>

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/output/text_output.hpp"
#include "engine/runtime_core.hpp"
#include "model/kept_duration.hpp"

namespace fairlead::front {

using detail::Submission;

class FlowFileWriter final : public engine::SubmissionBook {
 public:
  /// Throws SystemError if the file cannot be written.
  FlowFileWriter(engine::RuntimeCore& core, std::string path);
  /// Without end() there is no file: what was there before stays as it was.
  ~FlowFileWriter() override;

  void task(const Submission& submission, std::span<const Use> uses, bool ordered_explicitly) override;
  std::string line_of(const Submission& submission, std::span<const Use> uses) override;
  void repeat(const std::string& lines, std::size_t tasks) override;
  void phase_ended() noexcept override { phase_ended_ = tasks_ != 0; }
  void hold() noexcept override { ++holds_; }
  void give_up(const std::string& why) override;

  /// With how long tasks took, on average. Throws SystemError if something could not be written.
  void end(const model::KeptDurations& durations);

 private:
  void write(std::string_view text);
  void begin_phase();
  std::size_t number_of(const CodeletInfo& codelet);
  std::size_t number_of(const engine::RegisteredDatum& datum);
  std::size_t number_of_file(const char* name);
  void count_what_is_left_out(const Submission& submission, bool ordered_explicitly);

  engine::RuntimeCore& core_;
  std::string error_;  // the first of writing
  std::optional<data::TextOutput> file_;
  std::unordered_map<std::string, std::size_t> codelets_, files_;  // by the text of their lines
  std::unordered_map<DatumId, std::size_t> data_;                  // ids are never used again
  std::uint64_t tasks_ = 0, phases_ = 0, holds_ = 0, several_workers_ = 0, scratch_ = 0, explicit_order_ = 0,
                tied_ = 0;
  bool phase_ended_ = true, given_up_ = false;
};

}  // namespace fairlead::front
