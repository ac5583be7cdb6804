// Writes the lines of a flow file. end() reports the first write error.
#include "front/flow/flow_file_writer.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {

/// The last field of a line may contain blanks; control characters are replaced.
std::string one_line(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](unsigned char letter) { return letter < ' '; }, '?');
  return text;
}

std::string_view letters_of(AccessMode mode) {
  switch (mode) {
    case AccessMode::read:
      return "r";
    case AccessMode::write:
      return "w";
    case AccessMode::read_write:
      return "rw";
    case AccessMode::commutative:
      return "c";
    case AccessMode::reduction:
      return "x";
  }
  return "?";
}

std::string_view unit_of(const CodeletInfo& codelet) {
  constexpr std::array<std::string_view, 3> units{"none", "flops", "nanoseconds"};
  return units[static_cast<std::size_t>(codelet.unit)];
}

/// The mean duration of the middle half of the tasks, in nanoseconds.
double mean_ns(const model::Quantiles& quantiles) {
  return static_cast<double>(std::accumulate(quantiles.begin() + 2, quantiles.end() - 2, std::int64_t{0})) /
         4;
}

}  // namespace

FlowFileWriter::FlowFileWriter(engine::RuntimeCore& core, std::string path) : core_(core) {
  try {
    file_.emplace(std::move(path));
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("record-flow: {}", error.what()));
  }
  write("fairlead-flow 1\n");
}
FlowFileWriter::~FlowFileWriter() = default;

void FlowFileWriter::write(std::string_view text) {
  if (error_.empty()) try {
      file_->append(text);
    } catch (const SystemError& error) {
      error_ = error.what();
    }
}

std::size_t FlowFileWriter::number_of(const CodeletInfo& codelet) {
  std::string kinds;
  for (std::size_t kind = 0; kind < worker_kind_count; ++kind)
    if (((codelet.kinds >> kind) & 1u) != 0)
      kinds += (kinds.empty() ? "" : ",") + std::string(worker_kind_names[kind]);
  const auto [known, is_new] = codelets_.emplace(
      fmt::format("{} {} {}", kinds, unit_of(codelet), one_line(codelet.name)), codelets_.size());
  if (is_new) write(fmt::format("codelet {} {}\n", known->second, known->first));
  return known->second;
}

std::size_t FlowFileWriter::number_of_file(const char* name) {
  const auto [known, is_new] = files_.emplace(one_line(name), files_.size());
  if (is_new) write(fmt::format("file {} {}\n", known->second, known->first));
  return known->second;
}

std::size_t FlowFileWriter::number_of(const engine::RegisteredDatum& datum) {
  const auto [known, is_new] = data_.emplace(datum.id, data_.size());
  if (is_new) {
    const auto at = core_.engine().view().coordinates(datum.id);
    write(fmt::format("datum {} {} {} {} {} {} {}\n", known->second, datum.bytes, at.collection, at.row,
                      at.column, datum.ever_written || has_value(datum) ? "value" : "empty",
                      one_line(datum.text())));
  }
  return known->second;
}

std::string FlowFileWriter::line_of(const Submission& submission, std::span<const Use> uses) {
  std::string line =
      fmt::format("task {} {}:{} {} {:.9g}", number_of(*submission.codelet), number_of_file(submission.file),
                  submission.line, submission.priority, submission.work);
  for (const Use& use : uses)
    fmt::format_to(std::back_inserter(line), " {}{}", letters_of(use.mode), number_of(*use.datum));
  return line += '\n';
}

void FlowFileWriter::count_omissions(const Submission& submission, bool ordered_explicitly) {
  on_several_workers_ += submission.workers.count() != 1;
  with_scratch_ += submission.scratch_bytes != 0;
  explicitly_ordered_ += ordered_explicitly;
  placed_ += submission.node != no_id<NodeId> || submission.device != no_device;
}

void FlowFileWriter::begin_phase() {
  if (!std::exchange(phase_ended_, false)) return;
  write(fmt::format("phase {}\n", ++phases_));
}

void FlowFileWriter::task(const Submission& submission, std::span<const Use> uses, bool ordered_explicitly) {
  if (given_up_) return;
  begin_phase();
  count_omissions(submission, ordered_explicitly);
  ++tasks_;
  write(line_of(submission, uses));
}

void FlowFileWriter::repeat(const std::string& lines, std::size_t tasks) {
  if (given_up_) return;
  begin_phase();
  tasks_ += tasks;
  write(lines);
}

void FlowFileWriter::give_up(const std::string& why) {
  if (std::exchange(given_up_, true)) return;
  write(fmt::format("unrecorded {}\n", one_line(why)));
}

void FlowFileWriter::end(const model::KeptDurations& durations) {
  for (const model::DurationRecord& kept : durations)
    write(fmt::format("duration {} {} {} {:.0f} {}\n", worker_kind_names[static_cast<std::size_t>(kept.kind)],
                      kept.size, kept.tasks, mean_ns(kept.quantiles_ns), one_line(kept.codelet)));
  const auto left_out = [&](std::uint64_t count, std::string_view what) {
    if (count != 0) write(fmt::format("left-out {} {}\n", count, what));
  };
  left_out(on_several_workers_, "tasks run on several workers at once");
  left_out(with_scratch_, "tasks have scratch memory");
  left_out(explicitly_ordered_, "tasks have explicit predecessors");
  left_out(placed_, "tasks are bound to a memory node or have a device hint");
  left_out(holds_, "times the program acquires data itself");
  write(fmt::format("end {} {}\n", data_.size(), tasks_));
  if (error_.empty()) try {
      file_->commit();
    } catch (const SystemError& error) {
      error_ = error.what();
    }
  if (!error_.empty()) throw SystemError(fmt::format("record-flow: {}", error_));
}

}  // namespace fairlead::front
