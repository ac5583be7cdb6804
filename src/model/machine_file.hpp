// A file with measurements of this machine from earlier runs: durations of tasks and speeds of links. One text file
// per user and machine; several processes may use it at once without losing data.
#pragma once
#include <filesystem>
#include <string>

#include "base/shared_file.hpp"
#include "model/kept_duration.hpp"
#include "model/kept_link.hpp"

namespace fairlead::model {

struct MachineMeasurements {
  KeptDurations durations;  ///< in the order of their keys
  KeptLinks links;
  /// Why the file is not used, as a sentence for the user; empty if it is used or does not exist.
  std::string problem;
};

class MachineFile {
 public:
  /// Limit of records; those with the oldest measurements are deleted.
  static constexpr std::size_t most_durations = 4096;
  /// A run whose tasks took less in all is short, for is_worth_writing().
  static constexpr double shortest_computation_ns = 1e8;

  /// `machine`: machine::Identity::text(). Does not access the file.
  MachineFile(const std::filesystem::path& directory, std::string machine);

  const std::filesystem::path& path() const noexcept { return file_.path(); }
  /// Throws nothing because of the file's contents.
  MachineMeasurements load() const;

  // add() and put() keep what other processes have written in the meantime. They replace an invalid file, but not one
  // of a newer version. They throw SystemError if the file cannot be written.

  /// Whether add() is worth its time, which for many records is some ten milliseconds: unless a short run has only
  /// measured again what it started with. `started_with` is in the order of its keys.
  static bool is_worth_writing(const KeptDurations& learned, const KeptDurations& started_with);
  /// `learned`: DurationModel::learned(); `started_with`: the records that the model loaded. `today`: days since
  /// 1970.
  void add(const KeptDurations& learned, const KeptDurations& started_with, std::int32_t today) const;
  /// Replaces earlier measurements of these links.
  void put(const KeptLinks& links) const;

 private:
  struct Contents {
    MachineMeasurements facts;
    bool of_newer_version = false;
  };
  Contents contents() const;
  void write(const MachineMeasurements& facts) const;

  std::string machine_;
  SharedFile file_;
};

/// Formats days since 1970 as "2026-11-20".
std::string date_text(std::int32_t day);

}  // namespace fairlead::model
