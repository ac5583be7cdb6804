// The common program: ownership of values, transfers between ranks, and waits. See shared_program.hpp.
#include "front/ranks/shared_program.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/exception_text.hpp"
#include "base/pages.hpp"
#include "front/flow/pseudo_task.hpp"
#include "front/ranks/host_capacity.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t fingerprint_of_flows = 0x666c'6f77'73u;
/// Divisor of the pool's size: limit for values in flight to this rank, and the same again for values from it; at least
/// one value in each direction.
constexpr Bytes share_of_visitors = 16;

std::string place_in(const Submission& submission) {
  return fmt::format("\n  submitted at {}:{}", submission.file, submission.line);
}
/// All ranks count versions alike. Two versions with the same low 24 bits are never in flight at the same time.
constexpr std::uint64_t name_of_value(const SharedDatum& datum) noexcept {
  return std::uint64_t{datum.number} << 24 | (datum.version & 0xff'ffffu);
}
constexpr std::uint64_t hashed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0xff51'afd7'ed55'8ccdu;
  return hash ^ hash >> 32;
}
}  // namespace

SharedProgram::SharedProgram(engine::RuntimeCore& core, net::Communicator& communicator)
    : core_(core),
      communicator_(communicator),
      own_(communicator.own()),
      guests_(core),
      comparison_(communicator, [&core] { core.world().wake(engine::WakeTarget::application()); }),
      traffic_(core, communicator, net::Client::Cause::flows,
               {.failed = [this](const std::string& why) { failed(why); }}) {}

// ---- data

void SharedProgram::share(engine::RegisteredDatum& named, std::uint32_t number, net::RankId owner,
                          Bytes bytes) {
  SharedDatum* datum = nullptr;
  if (unused_.empty()) {
    datum = &data_.emplace_back();
  } else {
    datum = unused_.back();
    unused_.pop_back();
    *datum = {};
  }
  datum->number = number;
  datum->owner = datum->last_writer = owner;
  datum->bytes = bytes;
  datum->handle_target = &named;
  if (owner == own_) datum->local = datum->home = &named;
  named.shared = datum;
  named.bytes = bytes;
  largest_ = std::max(largest_, whole_pages_for(bytes));
}

void SharedProgram::forget(engine::RegisteredDatum& named) {
  auto* const datum = static_cast<SharedDatum*>(std::exchange(named.shared, nullptr));
  if (datum == nullptr) return;
  drop_guest(*datum);
  std::erase(touched_, datum);
  datum->handle_target = nullptr;
  unused_.push_back(datum);
}

void SharedProgram::drop_guest(SharedDatum& datum) {
  if (datum.local != nullptr && datum.local != datum.home) {
    core_.reductions().replaced(*datum.local);
    guests_.release(*datum.local);
  }
  datum.local = nullptr;
}

// ---- tasks

void SharedProgram::keep(const std::shared_ptr<const CodeletInfo>& codelet) {
  if (!codelets_.empty() && codelets_.back() == codelet) return;
  const auto found = std::ranges::find(codelets_, codelet);
  if (found == codelets_.end()) return codelets_.push_back(codelet);
  if (found + 1 != codelets_.end()) std::iter_swap(found, codelets_.end() - 1);
}

std::int64_t SharedProgram::place_of(const Submission& submission, std::uint64_t& hash, bool& common) const {
  std::int64_t place = submission.rank;
  const SharedDatum* looked_at = nullptr;
  hash = hashed(submission.codelet->name_hash(), submission.line);
  for (const Submission::Use& use : submission.uses) {
    if (use.datum == nullptr) return common = false;  // rejected later
    const SharedDatum* const datum = shared_of(*use.datum);
    if (use.datum->generation != use.generation)
      throw UsageError(fmt::format(
          "the task {} uses a datum that no longer exists: it was removed, or its matrix was destroyed{}",
          submission.codelet->name, place_in(submission)));
    if (datum == nullptr) {
      if (place == -1 && writes(use.mode)) place = everywhere;
      hash = hashed(hash, static_cast<std::uint64_t>(use.mode));
      continue;
    }
    common = true;
    if (place == -1 && writes(use.mode)) place = static_cast<std::int64_t>(datum->owner);
    if (looked_at == nullptr) looked_at = datum;
    hash = hashed(hash, (std::uint64_t{datum->number} + 1) << 3 | static_cast<std::uint64_t>(use.mode));
  }
  common |= submission.rank >= 0;
  if (place == -1 && looked_at != nullptr) place = static_cast<std::int64_t>(looked_at->owner);
  hash = hashed(hash, static_cast<std::uint64_t>(place));
  return place;
}

SharedProgram::TaskPlacement SharedProgram::next_task(const Submission& submission,
                                                      const std::shared_ptr<const CodeletInfo>& codelet) {
  std::uint64_t hash = 0;
  bool common = false;
  const std::int64_t place = place_of(submission, hash, common);
  if (!common) return TaskPlacement::local;
  if (has_failed_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (failed_here_.load()) return TaskPlacement::other_rank;  // wait() reports the reason
    core_.wait_for_running_bodies();
    throw RankError("the flow was aborted: " + failure());
  }
  if (place >= static_cast<std::int64_t>(communicator_.ranks()))
    throw UsageError(fmt::format("the task {} is to run on rank {}, and there are {}{}",
                                 submission.codelet->name, place, communicator_.ranks(),
                                 place_in(submission)));
  if (place == everywhere) check_written_everywhere(submission);
  if (!under_way_) begin();
  keep(codelet);
  comparison_.add_task(hash, submission.codelet, submission.file, submission.line);
  place_ = place;
  const bool here = place == everywhere || place == static_cast<std::int64_t>(own_);
  const net::RankId by{here ? 0 : static_cast<std::uint32_t>(place)};
  try {
    if (comparison_.far_ahead()) [[unlikely]]
      core_.wait_until([this] { return !comparison_.far_ahead() || has_failed(); }, "submit");
    if (here) return TaskPlacement::this_rank;
    for (const Submission::Use& use : submission.uses)
      if (SharedDatum* const datum = shared_of(*use.datum);
          datum != nullptr && reads(use.mode) && datum->last_writer == own_)
        send_value(*datum, by);
  } catch (...) {
    task_rejected(submission, false, std::current_exception());
    throw;
  }
  for (const Submission::Use& use : submission.uses)
    if (SharedDatum* const datum = shared_of(*use.datum); datum != nullptr && writes(use.mode))
      rewritten(*datum, by);
  return TaskPlacement::other_rank;
}

void SharedProgram::check_written_everywhere(const Submission& submission) {
  for (const Submission::Use& use : submission.uses)
    if (writes(use.mode) && shared_of(*use.datum) != nullptr)
      throw UsageError(
          fmt::format("the task {} runs on all ranks, since the first datum that it writes is not shared, "
                      "but it also writes {}, which is shared: put that first, or use on_rank(){}",
                      submission.codelet->name, use.datum->text(), place_in(submission)));
}

std::span<const Submission::Use> SharedProgram::localize_uses(const Submission& submission) {
  for (std::size_t i = 0; i < submission.uses.size(); ++i) {
    const Submission::Use& use = submission.uses[i];
    SharedDatum* const datum = shared_of(*use.datum);
    if (datum == nullptr) continue;
    if (!reads(use.mode)) continue;
    if (datum->local == nullptr) {
      engine::RegisteredDatum& into = datum->home != nullptr ? *datum->home : guests_.take(*datum);
      datum->local = &into;
      touch(*datum);
      into.ever_written = true;
      traffic_.receive(name_of_value(*datum), into, datum->bytes);
    } else if (place_ == everywhere && datum->last_writer == own_) {
      for (std::uint32_t rank = 0; rank < communicator_.ranks(); ++rank)
        if (net::RankId{rank} != own_) send_value(*datum, net::RankId{rank});
    }
  }
  uses_.resize(submission.uses.size());
  for (std::size_t i = 0; i < submission.uses.size(); ++i) {
    const Submission::Use& use = submission.uses[i];
    SharedDatum* const datum = shared_of(*use.datum);
    uses_[i] = use;
    if (datum == nullptr) continue;
    if (datum->local == nullptr) {
      datum->local = datum->home != nullptr ? datum->home : &guests_.take(*datum);
      touch(*datum);
    }
    uses_[i].datum = datum->local;
    uses_[i].generation = datum->local->generation;
  }
  return uses_;
}

void SharedProgram::written(const Submission& submission) {
  for (const Submission::Use& use : submission.uses)
    if (SharedDatum* const datum = shared_of(*use.datum); datum != nullptr && writes(use.mode))
      rewritten(*datum, own_);
}

void SharedProgram::task_rejected(const Submission& submission, bool brought, const std::exception_ptr& why) {
  const bool is_missed = !brought || std::ranges::any_of(submission.uses, [](const Submission::Use& use) {
    return writes(use.mode) && shared_of(*use.datum) != nullptr;
  });
  if (is_missed) report_failure(exception_text(why, "a task could not be submitted"));
}

/// Sends the newest value, which is on this rank, to rank `to`.
void SharedProgram::send_value(SharedDatum& datum, net::RankId to) {
  if (std::ranges::find(datum.receivers, to) != datum.receivers.end()) return;
  if (!has_value(*datum.local))
    throw UsageError(fmt::format("a task on rank {} reads {}, which nothing has written yet", net::index(to),
                                 datum.local->text()));
  core_.reductions().close(*datum.local);
  datum.receivers.push_back(to);
  touch(datum);
  datum.sending = traffic_.send(datum.sending, name_of_value(datum), *datum.local, datum.bytes, to);
}

void SharedProgram::rewritten(SharedDatum& datum, net::RankId by) {
  ++datum.version;
  datum.last_writer = by;
  datum.receivers.clear();
  datum.sending = 0;
  if (by != own_ && datum.local != nullptr) {
    core_.reductions().replaced(*datum.local);
    drop_guest(datum);
  }
  if (by != datum.owner) touch(datum);
}

void SharedProgram::drop_copies(const detail::DatumReference& reference, const char* file,
                                std::uint32_t line) {
  static const CodeletInfo info = pseudo_codelet("drop_copies");
  if (reference.datum == nullptr || reference.datum->generation != reference.generation)
    throw UsageError("drop_copies was given a handle that is empty, or of a datum that no longer exists");
  SharedDatum* const datum = shared_of(*reference.datum);
  if (datum == nullptr || !under_way_) return;
  comparison_.add_task(hashed(datum->number, line), &info, file, line);
  if (datum->last_writer != own_) drop_guest(*datum);
  datum->receivers.clear();
  datum->sending = 0;
  ++datum->version;  // a later transfer to the same rank needs another name
}

Bytes SharedProgram::transfer_reserve() const noexcept {
  const Bytes capacity = host_capacity(core_);
  return 2 * std::max(capacity / share_of_visitors, largest_);
}

void SharedProgram::check_memory(Bytes footprint, const Submission& submission) const {
  const Bytes capacity = host_capacity(core_);
  if (footprint + transfer_reserve() <= capacity) return;
  throw FootprintError(
      fmt::format("the task {} needs {} at once, and {} are reserved for values in flight between ranks; "
                  "there is {}{}\n  Use smaller tiles, or {}.",
                  submission.codelet->name, mebibytes(footprint), mebibytes(transfer_reserve()),
                  mebibytes(capacity), place_in(submission),
                  core_.memory_advice(core_.engine().view().host(), footprint + transfer_reserve())));
}

void SharedProgram::check_hold(const Submission& submission) const {
  for (const Submission::Use& use : submission.uses) {
    const SharedDatum* const datum = use.datum == nullptr ? nullptr : shared_of(*use.datum);
    if (datum == nullptr || use.datum->generation != use.generation) continue;
    const auto refuse = [&](const std::string& why) {
      throw UsageError(fmt::format("{} is acquired, {}\n  acquired at {}:{}", use.datum->text(), why,
                                   submission.file, submission.line));
    };
    if (datum->owner != own_)
      refuse(fmt::format("which belongs to rank {}, and this is rank {}: only the owner acquires a datum",
                         net::index(datum->owner), net::index(own_)));
    if (datum->last_writer != own_ && datum->local == nullptr)
      refuse(fmt::format("and rank {} has written it last: wait() writes it back",
                         net::index(datum->last_writer)));
    if (writes(use.mode) && (datum->last_writer != own_ || !datum->receivers.empty()))
      refuse("to change it, and other ranks have that value: wait() first");
  }
}

// ---- waiting for all ranks

void SharedProgram::begin() {
  under_way_ = true;
  const Bytes capacity = host_capacity(core_);
  traffic_.begin(fingerprint_of_flows,
                 net::room_of(std::max(capacity / share_of_visitors, largest_), largest_, page_bytes));
}

void SharedProgram::begin_wait() {
  if (!under_way_) return;
  if (core_.holds().own())
    throw UsageError("a wait for all ranks, while this thread holds data" + core_.holds().text());
  for (SharedDatum* const datum : std::exchange(touched_, {})) {
    if (!has_failed() && datum->last_writer != datum->owner) {
      if (datum->last_writer == own_) send_value(*datum, datum->owner);
      if (datum->owner == own_ && datum->local == nullptr) {
        datum->home->ever_written = true;
        traffic_.receive(name_of_value(*datum), *datum->home, datum->bytes);
      }
    }
    drop_guest(*datum);
    datum->local = datum->home;
    datum->last_writer = datum->owner;
    datum->receivers.clear();
    datum->sending = 0;
    datum->touched = false;
  }
  touched_.clear();
  comparison_.add_wait();
}

bool SharedProgram::is_stopped() const noexcept {
  return core_.engine().stop_reason().stopped() || core_.engine().stop_reason().error() != 0;
}

void SharedProgram::end_wait() {
  if (!under_way_) return;
  const auto over = [this] { return core_.sources().all_over() && traffic_.none(); };
  core_.sources().wake_on_every_completion(true);
  // A failure on this rank becomes has_failed() when it has been reported to all ranks.
  static_cast<void>(core_.wait(
      [&] { return has_failed() || (over() && comparison_.all_compared() && !failed_here_.load()); }));
  if (is_stopped()) communicator_.report_failure_async("its run was stopped");
  if (!has_failed() && !is_stopped()) {
    comparison_.report_wait_completed();
    static_cast<void>(core_.wait([this] { return has_failed() || comparison_.all_over(); }));
  }
  static_cast<void>(core_.wait([this] { return core_.sources().all_over(); }));
  core_.sources().wake_on_every_completion(false);
  end_traffic(false);
}

/// `ending`: does not wait for data that the program holds.
void SharedProgram::end_traffic(bool ending) {
  under_way_ = false;
  traffic_.end();
  static_cast<void>(core_.wait([this] { return traffic_.none(); }, ending));
  // After a failure, other ranks may still send hashes for comparison, whose messages name codelets.
  if (comparison_.all_names_released()) codelets_.clear();
}

void SharedProgram::finish() noexcept {
  if (!under_way_ || !core_.caller().may_wait()) return;
  try {
    if (std::uncaught_exceptions() != 0) {
      communicator_.report_failure_async("its program has left a flow by an exception");
      static_cast<void>(core_.wait([this] { return has_failed(); }));
    }
    begin_wait();
    end_wait();
  } catch (...) {
    communicator_.report_failure_async("its program has ended while it held data");
    end_traffic(true);  // a flow that outlives the runtime then finds no communicator and nothing to complete
  }
}

void SharedProgram::add(TaskSource& flow) {
  const std::lock_guard guard(mutex_);
  if (std::ranges::find(flows_, &flow) != flows_.end()) return;
  flows_.push_back(&flow);
  if (has_failed_.load()) core_.engine().cancel(flow);
}
void SharedProgram::remove(TaskSource& flow) {
  const std::lock_guard guard(mutex_);
  std::erase(flows_, &flow);
}

void SharedProgram::failed(const std::string& why) {
  {
    const std::lock_guard guard(mutex_);
    if (has_failed_.load()) return;
    failure_ = why;
    has_failed_.store(true);
    for (TaskSource* const flow : flows_) core_.engine().cancel(*flow);
  }
  traffic_.abandon();
  core_.world().process_remote_events_and_retry();
  core_.world().wake(engine::WakeTarget::application());
}

std::string SharedProgram::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

}  // namespace fairlead::front
