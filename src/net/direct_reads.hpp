// Direct reads between ranks of one machine, where the system permits them. The receiver copies a value from the
// sender's memory, and the sender has nothing to do. It uses process_vm_readv, so that no memory is shared
// (docs/ranks.md gives the reason).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fairlead/ids.hpp>

#include "net/names.hpp"

namespace fairlead::net {

/// The state of one rank. Immutable after learn(); then any thread may use it.
class DirectReads {
 public:
  /// Permits the processes of this rank's launcher to read its memory.
  explicit DirectReads(RankId own);
  DirectReads(const DirectReads&) = delete;
  DirectReads& operator=(const DirectReads&) = delete;

  // ---- setup: all ranks exchange texts, twice

  /// The text for other ranks: this process, and the address of a number to read here.
  std::string introduction() const;
  /// Tries to read the numbers of other ranks. `introductions` is indexed by rank. Returns the text with the results,
  /// for learn().
  std::string probe(const std::vector<std::string>& introductions);
  void set_results(const std::vector<std::string>& tried);

  // ---- use

  /// By rank: true if that rank reads this one's memory.
  const std::vector<bool>& read_by() const noexcept { return read_by_; }
  struct Part {
    RankId from = no_rank;
    std::uint64_t address = 0;
    void* place = nullptr;
    Bytes bytes = 0;
    std::uint64_t mark_at = 0, mark = 0;
  };
  /// False if the read fails or the mark does not match: then the bytes at `place` are meaningless.
  bool read(const Part& part) const noexcept;
  /// A number that no other process has.
  std::uint64_t first_mark() const noexcept { return first_mark_; }

  // ---- diagnostics

  /// Which ranks of one machine cannot read each other, in all of the job, and why; empty: all can.
  std::string why_not_read() const;

 private:
  const RankId own_;
  const std::uint64_t first_mark_;
  const std::uint64_t probe_;     // the number that others try to read
  std::vector<pid_t> processes_;  // by rank; 0: on another machine, or not readable
  std::vector<bool> read_by_;
  std::size_t pairs_ = 0, reading_pairs_ = 0;  // ordered pairs of ranks on one machine
  std::string why_not_;
};

struct MpiPlugin;
/// Exchanges the texts through the plug-in. Collective.
std::shared_ptr<const DirectReads> exchange_direct_reads(const MpiPlugin& plugin, std::uint32_t own);

}  // namespace fairlead::net
