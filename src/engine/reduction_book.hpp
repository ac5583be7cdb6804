// Which data are being reduced, and into which partial results: what lets tasks that add to the same datum
// run at the same time. The partial results are data like others; tasks fold them when something else comes.
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

/// The space of a partial result, as long as `keep` lives.
struct PartialSpace {
  NodeId home{};
  void* address = nullptr;
  Bytes home_offset = 0;
  std::shared_ptr<void> keep;
};

/// What a datum that has been reduced has beside itself.
struct Reduction {
  struct Partial {
    std::unique_ptr<RegisteredDatum> datum;
    std::shared_ptr<void> keep;
  };
  RegisteredDatum* datum = nullptr;
  std::vector<Partial> partials;
  bool no_more = false;    ///< space is short
  std::size_t in_use = 0;  ///< of these, by tasks since something else was done with the datum
  /// What these tasks do; nobody: there are none.
  detail::FoldFunction fold = nullptr;
  detail::ReducedShape shape{};
  /// A flow that has such tasks, and what folds for it.
  struct Joined {
    const void* flow = nullptr;
    std::function<void()> fold{};
  };
  std::vector<Joined> joined{};  ///< empty: they are gone, and the next who comes folds
  bool is_of(const void* flow) const noexcept {
    return std::ranges::find(joined, flow, &Joined::flow) != joined.end();
  }
};

/// The application's thread's.
class ReductionBook {
 public:
  explicit ReductionBook(RuntimeCore& core) noexcept : core_(core) {}

  /// Where partial results are kept; nothing if there is no space.
  using Space = std::function<std::optional<PartialSpace>(Bytes bytes, NodeId home)>;
  /// Without it there are no partial results.
  void get_space_from(Space space) { space_ = std::move(space); }
  /// The kinds of workers that can fold, as bits.
  static constexpr std::uint32_t fold_kinds =
      (1u << static_cast<unsigned>(WorkerKind::cpu)) | (1u << static_cast<unsigned>(WorkerKind::emulated));

  /// Tasks that reduce the datum follow each other from now on.
  Reduction& open(RegisteredDatum& datum, const detail::ReductionInfo& how);
  /// One more task follows, which may run at the same time if there are workers and space: how many partial
  /// results it may use.
  std::uint8_t one_more(Reduction& reduction);
  /// Something else follows: its partial results are being folded.
  void closed(Reduction& reduction);
  /// Folds all that is open; what one flow has a part in, if that is named: then it is that one's.
  void close_all(const void* flow = nullptr);
  /// Folds what is open of the datum.
  void close(const RegisteredDatum& datum);
  /// A task that replaces the datum's value was submitted, here or on another rank: nothing of what was added to the former
  /// value will be folded (rule 8 of docs/memory.md).
  void replaced(const RegisteredDatum& datum) {
    if (datum.reduction != nullptr && datum.reduction->fold != nullptr) closed(*datum.reduction);
  }
  /// Whether it folds something that is open.
  bool has_part_in_any(const void* flow) const {
    return std::ranges::any_of(open_, [&](const Reduction* it) { return it->is_of(flow); });
  }
  /// The flow is gone, and could not fold, since the run was stopped.
  void orphan(const void* flow) noexcept;
  /// The datum is about to be removed.
  void forget(RegisteredDatum& datum);
  /// Nodes where a datum and a partial result do not fit together, as bits.
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
