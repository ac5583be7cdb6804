// Records a flow during submission, for `fairlead simulate --recorded`: data, codelets and tasks in program order, one
// per line. simulate/flow_file.hpp reads the file and documents the lines.
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

class FlowFileWriter final : public engine::SubmissionRecorder {
 public:
  /// Throws SystemError if the file cannot be written.
  FlowFileWriter(engine::RuntimeCore& core, std::string path);
  /// Without a call of end() no file is created, and an existing one is unchanged.
  ~FlowFileWriter() override;

  void task(const Submission& submission, std::span<const Use> uses, bool ordered_explicitly) override;
  std::string line_of(const Submission& submission, std::span<const Use> uses) override;
  void repeat(const std::string& lines, std::size_t tasks) override;
  void phase_ended() noexcept override { phase_ended_ = tasks_ != 0; }
  void hold() noexcept override { ++holds_; }
  void give_up(const std::string& why) override;

  /// Adds the mean durations of tasks and completes the file. Throws SystemError if a write failed.
  void end(const model::KeptDurations& durations);

 private:
  void write(std::string_view text);
  void begin_phase();
  std::size_t number_of(const CodeletInfo& codelet);
  std::size_t number_of(const engine::RegisteredDatum& datum);
  std::size_t number_of_file(const char* name);
  void count_omissions(const Submission& submission, bool ordered_explicitly);

  engine::RuntimeCore& core_;
  std::string error_;  // the first write error
  std::optional<data::TextOutput> file_;
  std::unordered_map<std::string, std::size_t> codelets_, files_;  // by the text of their lines
  std::unordered_map<DatumId, std::size_t> data_;                  // datum ids are never reused
  std::uint64_t tasks_ = 0, phases_ = 0, holds_ = 0, on_several_workers_ = 0, with_scratch_ = 0,
                explicitly_ordered_ = 0, placed_ = 0;
  bool phase_ended_ = true, given_up_ = false;
};

}  // namespace fairlead::front
