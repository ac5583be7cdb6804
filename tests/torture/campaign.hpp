// A campaign: runs drawn from a seed, each of which is right or says what is wrong and the one command that
// makes it again. The programs below run one campaign each, so many times as a test allows or, at length, as
// a night.
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

/// What a run finds out: thrown by it, printed with the command that repeats it.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What one run may use.
struct Run {
  Random random;
  std::uint64_t index;
  bool alone;  ///< asked for by --only: it says what it does

  /// Tells it to a person who has asked for this run, and to the one who reads of a failure.
  void describe(const std::string& text) {
    description += text + "\n";
    if (alone) std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::string description{};
};

/// The runs of one campaign. Made anew for each; runs come one after the other.
class Campaign {
 public:
  virtual ~Campaign() = default;
  /// Throws Wrong, or any other exception, if something is wrong.
  virtual void run(Run& run) = 0;
  /// What all runs together have come to, a line or more; throws Wrong if that is not what it should be.
  /// `runs`: how many there were, 1 if one was asked for by itself.
  virtual std::string summary(std::uint64_t runs) = 0;
};

struct CampaignEntry {
  std::string name;  ///< of the test
  std::uint64_t runs, runs_at_length;
  /// No run takes longer than this, on the slowest machine: it hangs.
  std::chrono::seconds hangs_after;
  std::function<std::unique_ptr<Campaign>()> make;
};

/// Every campaign of this program.
std::vector<CampaignEntry> campaigns();

}  // namespace fairlead::torture
