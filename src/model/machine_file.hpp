// What earlier runs found out about this machine: how long tasks take and how fast its links are. One
// readable file per user and machine; several processes may use it at once, and nothing of theirs is lost.
#pragma once
#include <filesystem>
#include <string>

#include "base/kept_file.hpp"
#include "model/kept_duration.hpp"
#include "model/kept_link.hpp"

namespace fairlead::model {

struct MachineFacts {
  KeptDurations durations;  ///< in the order of their keys
  KeptLinks links;
  /// Why the file is not used, as a sentence for the user; empty if it is, or if there is none.
  std::string problem;
};

class MachineFile {
 public:
  /// More are not kept: those that were measured longest ago are forgotten.
  static constexpr std::size_t most_durations = 4096;

  /// `machine`: machine::Identity::text(). Touches nothing.
  MachineFile(const std::filesystem::path& directory, std::string machine);

  const std::filesystem::path& path() const noexcept { return file_.path(); }
  /// Never throws for what it finds.
  MachineFacts load() const;

  // Both keep what other processes have written meanwhile, and replace a file that is of no use, but not one
  // of a newer version. Throw SystemError naming what cannot be written.

  /// `learned`: DurationModel::learned(); `started_with`: what the same model started with. `today`: days
  /// since 1970.
  void add(const KeptDurations& learned, const KeptDurations& started_with, std::int32_t today) const;
  /// Replaces earlier measurements of the same links.
  void put(const KeptLinks& links) const;

 private:
  struct Contents {
    MachineFacts facts;
    bool of_newer_version = false;
  };
  Contents contents() const;
  void write(const MachineFacts& facts) const;

  std::string machine_;
  KeptFile file_;
};

/// The days since 1970 as "2026-11-20".
std::string date_text(std::int32_t day);

}  // namespace fairlead::model
