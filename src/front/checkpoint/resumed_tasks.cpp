// See resumed_tasks.hpp.
#include "front/checkpoint/resumed_tasks.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace fairlead::front {

namespace {

struct RestoreArguments {
  ResumedTasks* tasks;
  const SavedDatum* saved;
};

[[noreturn]] void throw_other_program(const CheckpointDirectory& directory, const std::string& why) {
  throw InputError(fmt::format("{}: the checkpoint is of another program: {}", directory.text(), why));
}

}  // namespace

ResumedTasks::ResumedTasks(CheckpointIndex index, const CheckpointDirectory& directory,
                           const CheckpointedTasks& tasks)
    : index_(std::move(index)), directory_(directory), tasks_(tasks), restored_(index_.data.size()) {
  codelet_.name = "restore";
  codelet_.modes = {AccessMode::write};
  codelet_.closure_bytes = sizeof(RestoreArguments);
  codelet_.kinds = 0;
  codelet_.implement(WorkerKind::cpu, {.run = &run_restore});
}

bool ResumedTasks::next(const detail::Submission& submission, std::uint64_t number, const Insert& insert) {
  if (number >= index_.submitted) {
    restore_all(insert);
    return true;
  }
  const auto& unfinished = index_.unfinished;
  const bool is_finished = next_unfinished_ == unfinished.size() || unfinished[next_unfinished_] != number;
  if (!is_finished) ++next_unfinished_;
  if (number + 1 == index_.submitted && tasks_.hash() != index_.program_hash)
    throw_other_program(
        directory_,
        fmt::format("its first {} tasks, or their data, are not those of this run", index_.submitted));
  if (!is_finished) restore_data_of(submission, insert);
  for (const auto& use : submission.uses)
    if (is_finished) use.datum->ever_written |= writes(use.mode);
  return !is_finished;
}

void ResumedTasks::end(const Insert& insert) {
  if (tasks_.count() < index_.submitted)
    throw_other_program(directory_,
                        fmt::format("it has {} tasks, and this run {}", index_.submitted, tasks_.count()));
  restore_all(insert);
}

void ResumedTasks::restore_data_of(const detail::Submission& submission, const Insert& insert) {
  for (const auto& use : submission.uses) {
    const std::uint64_t ordinal = tasks_.ordinal_of(*use.datum);
    const auto saved = std::ranges::lower_bound(index_.data, ordinal, {}, &SavedDatum::ordinal);
    if (saved != index_.data.end() && saved->ordinal == ordinal)
      restore(static_cast<std::size_t>(saved - index_.data.begin()), insert);
  }
}

void ResumedTasks::restore_all(const Insert& insert) {
  if (std::exchange(is_replayed_, true)) return;
  for (std::size_t i = 0; i < index_.data.size(); ++i) restore(i, insert);
}

/// Does nothing if the datum has its value, or does not exist any more.
void ResumedTasks::restore(std::size_t place, const Insert& insert) {
  const SavedDatum& saved = index_.data[place];
  if (restored_[place]) return;
  restored_[place] = true;
  if (saved.ordinal >= tasks_.data().size()) throw_other_program(directory_, "it has other data");
  const CheckpointedDatum& datum = tasks_.data()[saved.ordinal];
  if (!datum.exists()) return;
  if (datum.datum->bytes != saved.bytes)
    throw_other_program(directory_, fmt::format("{} has {} bytes, and {} in the checkpoint",
                                                datum.datum->text(), datum.datum->bytes, saved.bytes));
  const RestoreArguments arguments{this, &saved};
  const detail::Submission::Use use{datum.datum, AccessMode::write, datum.generation};
  detail::Submission submission;
  submission.codelet = &codelet_;
  submission.uses = {&use, 1};
  submission.file = "checkpoint";
  submission.arguments = &arguments;
  submission.fill_closure = [](void* closure, const void* from, const detail::AccessIndex*) {
    std::memcpy(closure, from, sizeof(RestoreArguments));
  };
  unfinished_restores_.fetch_add(1);
  is_restoring_ = true;
  try {
    insert(submission);
  } catch (...) {
    is_restoring_ = false;
    throw;
  }
  is_restoring_ = false;
}

void ResumedTasks::run_restore(const void*, TaskContext& context) {
  RestoreArguments arguments{};
  std::memcpy(&arguments, detail::closure_of(context), sizeof arguments);
  arguments.tasks->read(*arguments.saved, static_cast<std::byte*>(detail::location_of(context, 0).address));
  arguments.tasks->unfinished_restores_.fetch_sub(1);
}

void ResumedTasks::read(const SavedDatum& saved, std::byte* to) const {
  std::vector<std::byte> staging;  // sums are of whole pages, and a datum may be shorter
  Bytes covered = 0;
  for (const auto& part : saved.sums) {
    if (part.offset != covered || part.bytes > backend::Checksums::largest_chunk || covered >= saved.bytes)
      break;
    staging.resize(part.bytes);
    directory_.read(saved, part, staging);
    std::memcpy(to + covered, staging.data(), std::min(part.bytes, saved.bytes - covered));
    covered += part.bytes;
  }
  if (covered < saved.bytes)
    throw InputError(fmt::format("{}: the index of the checkpoint is damaged", directory_.text()));
}

}  // namespace fairlead::front
