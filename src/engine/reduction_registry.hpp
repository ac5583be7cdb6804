// The open reductions and their partial results, which let tasks that add to the same datum run concurrently. Partial
// results are ordinary data; tasks fold them into the datum before its next other access.
#pragma once
#include <fairlead/detail/reduction_info.hpp>
#include <fairlead/worker_kind.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "memory/datum_table.hpp"

namespace fairlead::engine {

class RuntimeCore;
struct RegisteredDatum;

/// Space for a partial result; valid as long as `keep` lives.
struct PartialSpace {
  NodeId home{};
  void* address = nullptr;
  Bytes home_offset = 0;
  std::shared_ptr<void> keep;
};

/// The reduction state of a datum.
struct Reduction {
  struct Partial {
    std::unique_ptr<RegisteredDatum> datum;
    std::shared_ptr<void> keep;
  };
  RegisteredDatum* datum = nullptr;
  std::vector<Partial> partials;
  bool no_more = false;    ///< no space for more partial results
  std::size_t in_use = 0;  ///< partial results used by tasks since the last other access of the datum
  /// The kind of reduction of these tasks; null: no reduction is open.
  detail::FoldFunction fold = nullptr;
  detail::ReducedShape shape{};
  /// A flow that has such tasks, and its function that folds.
  struct Joined {
    const void* flow = nullptr;
    std::function<void()> fold{};
  };
  std::vector<Joined> joined{};  ///< empty: these flows are gone, and the next flow to use the datum folds
  bool is_of(const void* flow) const noexcept {
    return std::ranges::find(joined, flow, &Joined::flow) != joined.end();
  }
};

/// Used by the application's thread only.
class ReductionRegistry {
 public:
  explicit ReductionRegistry(RuntimeCore& core) noexcept : core_(core) {}

  /// Allocates space for a partial result; returns none if there is no space.
  using Space = std::function<std::optional<PartialSpace>(Bytes bytes, NodeId home)>;
  /// If no function is set, there are no partial results.
  void get_space_from(Space space) { space_ = std::move(space); }
  /// The kinds of workers that can fold, as a bit mask.
  static constexpr std::uint32_t fold_kinds =
      (1u << static_cast<unsigned>(WorkerKind::cpu)) | (1u << static_cast<unsigned>(WorkerKind::emulated));

  /// Opens a reduction: tasks that reduce the datum follow.
  Reduction& open(RegisteredDatum& datum, const detail::ReductionInfo& how);
  /// Prepares for one more reducing task; adds a partial result if workers and space allow. Returns how many partial
  /// results the task may use.
  std::uint8_t one_more(Reduction& reduction);
  /// Closes the reduction: another access follows, and the partial results are being folded.
  void closed(Reduction& reduction);
  /// Folds and closes all open reductions, or those in which the given flow takes part; that flow then folds.
  void close_all(const void* flow = nullptr);
  /// Folds and closes the datum's reduction.
  void close(const RegisteredDatum& datum);
  /// A task that replaces the datum's value was submitted, on this rank or another: additions to the former value are
  /// not folded (rule 8 of docs/memory.md).
  void replaced(const RegisteredDatum& datum);
  /// Whether the flow takes part in an open reduction.
  bool has_part_in_any(const void* flow) const {
    return std::ranges::any_of(open_, [&](const Reduction* it) { return it->is_of(flow); });
  }
  /// The flow is gone, and could not fold because the run was stopped.
  void orphan(const void* flow) noexcept;
  /// Called before the datum is removed.
  void forget(RegisteredDatum& datum);
  /// The nodes where the datum and a partial result do not fit together, as a bit mask.
  std::uint32_t nodes_excluded(const RegisteredDatum& datum) const;
  bool none_open() const noexcept { return open_.empty(); }

 private:
  void set_aside(Reduction& reduction);

  RuntimeCore& core_;
  Space space_;
  std::vector<std::unique_ptr<Reduction>> all_;
  std::vector<Reduction*> open_;
};

}  // namespace fairlead::engine
