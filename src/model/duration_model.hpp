// How long tasks take: learned while they run, per codelet, implementation, processor and footprint; for
// footprints that never ran, from those of other sizes. All in integers, so that a replay estimates the same.
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

/// Codelets are told apart by name: two of one name count as one. So are the implementations that a codelet
/// has for one kind of worker; here they are given by their numbers. Not for several threads at once.
class DurationModel {
 public:
  /// The footprints that a codelet has a history for, each. Beyond them, tasks of about one size share one.
  static constexpr std::size_t most_footprints = 256;
  /// Of codelets, implementations and processors that are told apart. Those met later share what is known, by
  /// processor and unit of work: a program that makes up names as it goes does not grow.
  static constexpr std::size_t most_families = 1024;

  /// What these share: of sizes within an eighth of a doubling.
  static std::uint64_t shared_footprint(std::uint64_t size) noexcept;

  DurationModel();
  ~DurationModel();
  DurationModel(const DurationModel&) = delete;
  DurationModel& operator=(const DurationModel&) = delete;

  /// What earlier runs found. Before anything else.
  void start_with(const KeptDurations& kept);

  /// Whether the next task of the codelet should be recorded. Where all of them are tiny, one in forty is:
  /// there, estimates hardly matter, and recording would cost as much as the tasks.
  bool wants(const CodeletInfo& codelet, const Processor& processor, unsigned implementation = 0) noexcept {
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

  /// What is known and was learned (or learned more of) in this process, for later ones; in the order of its
  /// keys. Of each, `tasks` counts those of this process only.
  KeptDurations learned() const;

 private:
  struct History {
    std::uint64_t footprint = 0, size = 0;
    QuantileHistory durations;
  };
  /// One implementation of a codelet on one kind of processor.
  struct Family {
    std::uint64_t key = 0;
    std::uint32_t skip = 0;  // so many tasks need not be recorded
    bool tiny = false;       // all its tasks
    bool shared = false;     // by those beyond most_families
    WorkerKind kind{};
    std::string processor;
    WorkUnit unit{};
    std::string codelet, implementation;
    std::vector<History> histories;
    std::vector<std::uint32_t> places;  // open addressing by footprint: index + 1 of a history; 0: none
    std::uint32_t last = 0;             // the history used last
    mutable SizeRegression regression;
    mutable bool from_few = false;    // none of its points has tasks enough
    mutable std::size_t changes = 1;  // in histories since the regression was made
  };

  static std::uint64_t key(const CodeletInfo& codelet, const Processor& processor,
                           unsigned implementation) noexcept {
    return codelet.name_hash() + codelet.for_kind(processor.kind(), implementation).hash_of_name +
           (processor.key() << 4) + static_cast<std::uint64_t>(codelet.unit);
  }
  static std::size_t slot(std::uint64_t key) noexcept { return (key ^ (key >> 4)) % recent_families; }
  /// Of those beyond most_families.
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
  mutable std::array<Family*, recent_families> recent_{};  // by slot: the one used last
  std::vector<std::unique_ptr<Family>> families_;          // in the order in which they were met
  std::size_t kept_families_ = 0;                          // the first ones, of earlier runs
  std::unordered_map<std::uint64_t, Family*> by_key_;      // asked only, never walked through
};

}  // namespace fairlead::model
