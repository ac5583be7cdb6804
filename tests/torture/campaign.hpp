// A campaign: random runs from a seed. Each run is right, or reports the error and a command that repeats it. The programs
// below run one campaign each, briefly as a test or, at length, for a night.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace fairlead::torture {

/// A failure of a run, printed with the command that repeats the run.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The input of one run.
struct Run {
  Random random;
  std::uint64_t index;
  bool alone;  ///< selected by --only: it prints what it does

  /// Prints the text if the run was selected by --only; a failure report contains it in any case.
  void describe(const std::string& text) {
    description += text + "\n";
    if (alone) std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::string description{};
};

/// The runs of one campaign, one after the other. Each campaign has its own object.
class Campaign {
 public:
  virtual ~Campaign() = default;
  /// Throws Wrong, or any other exception, on failure.
  virtual void run(Run& run) = 0;
  /// The totals of all runs, a line or more; throws Wrong if they are not as expected.
  /// `runs`: their number; 1 with --only.
  virtual std::string summary(std::uint64_t runs) = 0;
};

struct CampaignEntry {
  std::string name;  ///< of the test
  std::uint64_t runs, runs_at_length;
  /// A run that takes longer, also on the slowest machine, hangs.
  std::chrono::seconds hangs_after;
  std::function<std::unique_ptr<Campaign>()> make;
};

/// Every campaign of this program.
std::vector<CampaignEntry> campaigns();

}  // namespace fairlead::torture
