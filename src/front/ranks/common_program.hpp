// What all ranks do together by flows: each walks through the same tasks, in the same order, and knows by that alone where
// each of them runs, which values it needs from others, and who needs those that are here. It keeps of each datum who has
// its newest value, and of tasks of others nothing.
#pragma once
#include <fairlead/detail/submission.hpp>
#include <fairlead/handle.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "front/ranks/comparison.hpp"
#include "front/ranks/guests.hpp"
#include "front/ranks/shared_datum.hpp"
#include "front/ranks/value_traffic.hpp"

namespace fairlead::front {

using detail::Submission;

class CommonProgram {
 public:
  CommonProgram(engine::RuntimeCore& core, net::Communicator& communicator);

  // ---- the program's thread's: data

  /// So many more that all ranks know: the number of the first.
  std::uint32_t take_numbers(std::size_t count) noexcept {
    return std::exchange(numbers_, numbers_ + static_cast<std::uint32_t>(count));
  }
  Guests& guests() noexcept { return guests_; }
  /// `named`: what this rank's handles of it name; if this rank owns it, that is where it lives.
  void share(engine::RegisteredDatum& named, std::uint32_t number, net::RankId owner, Bytes bytes);
  /// It is still to go to another rank, or to come from one, for tasks that were submitted.
  bool any_of(const engine::RegisteredDatum& datum) const {
    return !has_failed() && traffic_.any_of(datum.id);
  }
  /// Nobody uses it any more.
  void forget(engine::RegisteredDatum& named);

  // ---- tasks

  enum class Where : std::uint8_t {
    alone,      // it is no task of all ranks: nobody else knows of it
    here,       // bring() and written() have to be called
    elsewhere,  // there is nothing to be done
  };
  /// The next task of the program. Throws RankError if another rank cannot go on, UsageError for what all would refuse.
  Where pass(const Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  /// What a task that runs here uses here, in the order of its uses; what is elsewhere is on its way then.
  std::span<const Submission::Use> bring(const Submission& submission);
  /// It is submitted.
  void written(const Submission& submission);
  /// It is not, on this rank alone: then none can go on if others take what it writes for written, or have sent it what was
  /// not brought.
  void refused(const Submission& submission, bool brought, const std::exception_ptr& why);
  /// See Flow::drop_copies().
  void drop_copies(const detail::DatumReference& reference, const char* file, std::uint32_t line);
  /// Throws FootprintError if such a task and what comes and goes do not fit into memory together.
  void check_room(Bytes footprint, const Submission& submission) const;
  /// What comes and goes may take of memory at once.
  Bytes reserve() const noexcept;
  /// Throws UsageError if the program must not hold it like that without all ranks knowing.
  void check_hold(const Submission& submission) const;

  // ---- waiting for all ranks

  /// Tasks were passed since the last wait.
  bool under_way() const noexcept { return under_way_; }
  /// All ranks wait: what is not with its owner goes there.
  void begin_wait();
  /// Until nothing of this is left on any rank, or one cannot go on.
  void end_wait();
  /// Both, for a program that ends without. If it does so by an exception, the others are told.
  void leave() noexcept;
  bool has_failed() const noexcept { return has_failed_.load(); }
  std::string failure() const;

  // ---- any thread's

  /// Its tasks are cancelled when a rank cannot go on.
  void add(TaskSource& flow);
  void remove(TaskSource& flow);
  Comparison& comparison() noexcept { return comparison_; }
  /// A task has failed here, or was not run; in the middle of whatever.
  void failed_here(const std::string& why) {
    if (has_failed() || failed_here_.exchange(true)) return;  // tasks are cancelled where another has failed
    communicator_.fail_soon(why);
  }

 private:
  static constexpr std::int64_t everywhere = -2;
  static constexpr std::size_t most_uses = 256;
  /// Where it runs; `hash`: of all that is the same on all ranks.
  std::int64_t place_of(const Submission& submission, std::uint64_t& hash, bool& common) const;
  static void check_written_everywhere(const Submission& submission);
  void begin();
  void keep(const std::shared_ptr<const CodeletInfo>& codelet);
  void give(SharedDatum& datum, net::RankId to);
  void rewritten(SharedDatum& datum, net::RankId by);
  void drop_guest(SharedDatum& datum);
  void touch(SharedDatum& datum) {
    if (std::exchange(datum.touched, true)) return;
    touched_.push_back(&datum);
  }
  bool is_stopped() const noexcept;
  void end_traffic(bool ending);
  void failed(const std::string& why);

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  const net::RankId own_;
  Guests guests_;
  Comparison comparison_;
  ValueTraffic traffic_;
  std::deque<SharedDatum> data_;
  std::vector<SharedDatum*> unused_, touched_;
  std::vector<std::shared_ptr<const CodeletInfo>> codelets_;  // that comparisons may name
  std::uint32_t numbers_ = 0;
  Bytes largest_ = 0;
  bool under_way_ = false;
  std::int64_t place_ = -1;  // of the task that was passed
  std::array<Submission::Use, most_uses> uses_;
  std::atomic<bool> has_failed_{false}, failed_here_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::string failure_;
  std::vector<TaskSource*> flows_;
};

}  // namespace fairlead::front
