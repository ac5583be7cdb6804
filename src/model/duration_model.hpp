// Durations of tasks, learned at run time per codelet, implementation, processor and footprint. For a new footprint
// the model extrapolates from other sizes. All numbers are integers, so that a replay gets the same estimates.
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/worker_kind.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/estimate.hpp"
#include "model/footprint.hpp"
#include "model/kept_duration.hpp"
#include "model/processor.hpp"
#include "model/quantile_history.hpp"
#include "model/size_regression.hpp"

namespace fairlead::model {

/// Codelets are identified by name, and so are the implementations of a codelet for one kind of worker; the functions
/// take the implementation's number. Not thread-safe.
class DurationModel {
 public:
  /// Limit of footprints with a history of their own, per codelet. Further tasks of similar size share one.
  static constexpr std::size_t most_footprints = 256;
  /// Limit of distinct combinations of codelet, implementation and processor. Later ones share their histories by
  /// processor and unit of work, so that a program that generates names does not use more and more memory.
  static constexpr std::size_t most_families = 1024;

  /// The shared footprint for sizes within an eighth of a doubling.
  static std::uint64_t shared_footprint(std::uint64_t size) noexcept;

  DurationModel();
  ~DurationModel();
  DurationModel(const DurationModel&) = delete;
  DurationModel& operator=(const DurationModel&) = delete;

  /// Loads the results of earlier runs. Before any other call.
  void start_with(const KeptDurations& kept);

  /// True if the next task of the codelet should be recorded. If all its tasks are tiny, one in forty is: their
  /// estimates matter little, and recording would cost as much as the tasks.
  bool should_record(const CodeletInfo& codelet, const Processor& processor,
                     unsigned implementation = 0) noexcept {
    const std::uint64_t wanted = key(codelet, processor, implementation);
    Family* family = recent_[slot(wanted)];
    if (family == nullptr || family->key != wanted || family->skip == 0) return true;
    --family->skip;
    return false;
  }
  void record(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
              Duration duration, unsigned implementation = 0);

  Estimate estimate(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
                    unsigned implementation = 0) const;

  /// The measurements of this process, for later runs, in the order of the keys. `tasks` counts those of this
  /// process only.
  KeptDurations learned() const;

 private:
  struct History {
    std::uint64_t footprint = 0, size = 0;
    QuantileHistory durations;
  };
  /// One implementation of a codelet on one kind of processor.
  struct Family {
    std::uint64_t key = 0;
    std::uint32_t skip = 0;  // tasks that need not be recorded next
    bool tiny = false;       // all its tasks are tiny
    bool shared = false;     // used by combinations beyond most_families
    WorkerKind kind{};
    std::string processor;
    WorkUnit unit{};
    std::string codelet, implementation;
    std::vector<History> histories;
    // hash table with open addressing, by footprint: index of a history plus 1; 0: empty
    std::vector<std::uint32_t> places;
    std::uint32_t last = 0;  // index of the history used last
    mutable SizeRegression regression;
    mutable bool from_few = false;    // all its points are from too few tasks
    mutable std::size_t changes = 1;  // changes of histories since the last regression
  };

  static std::uint64_t key(const CodeletInfo& codelet, const Processor& processor,
                           unsigned implementation) noexcept {
    return codelet.name_hash() + codelet.for_kind(processor.kind(), implementation).hash_of_name +
           (processor.key() << 4) + static_cast<std::uint64_t>(codelet.unit);
  }
  static std::size_t slot(std::uint64_t key) noexcept { return (key ^ (key >> 4)) % recent_families; }
  /// The key that combinations beyond most_families share.
  static std::uint64_t shared_key(const CodeletInfo& codelet, const Processor& processor) noexcept {
    return 1 + (processor.key() << 4) + static_cast<std::uint64_t>(codelet.unit);
  }
  bool full() const noexcept { return families_.size() - kept_families_ >= most_families; }
  Family* find(std::uint64_t wanted) const;
  Family& find_or_make(const CodeletInfo& codelet, const Processor& processor, unsigned implementation);
  Family& make(std::uint64_t key, const CodeletInfo& codelet, const Processor& processor);
  static History* find(Family& family, std::uint64_t footprint) noexcept;
  static History& find_or_make(Family& family, const Footprint& footprint);
  static History& make(Family& family, std::uint64_t footprint, std::uint64_t size);
  static const SizeRegression& regression_of(const Family& family);
  bool is_far_slower(const Family& family, const History& history) const;

  static constexpr std::size_t recent_families = 32;
  mutable std::array<Family*, recent_families> recent_{};  // by slot: the family used last
  std::vector<std::unique_ptr<Family>> families_;          // in order of their first use
  std::size_t kept_families_ = 0;                          // the first ones, from earlier runs
  // never iterated, since its order is not deterministic
  std::unordered_map<std::uint64_t, Family*> by_key_;
};

}  // namespace fairlead::model
