// Ranks of one machine read each other's memory where the system lets them: who gets a value copies it from where it is,
// and who has it does nothing. By process_vm_readv, so memory stays each process's own (docs/ranks.md says why).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fairlead/ids.hpp>

#include "net/names.hpp"

namespace fairlead::net {

/// As one rank knows it. Immutable once all have told each other; any thread.
class Neighbours {
 public:
  explicit Neighbours(RankId own);
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  // ---- at the beginning: each tells all others a text, two times

  /// Where it is, and a number to be read there. It lets those be read it that its launcher has started.
  std::string introduction() const;
  /// Of those who have said so, by rank: whom this one can read.
  std::string try_them(const std::vector<std::string>& introductions);
  void learn(const std::vector<std::string>& tried);

  // ---- then

  /// By rank: who reads this one's memory.
  const std::vector<bool>& read_by() const noexcept { return read_by_; }
  struct Part {
    RankId from = no_rank;
    std::uint64_t address = 0;
    void* place = nullptr;
    Bytes bytes = 0;
    std::uint64_t mark_at = 0, mark = 0;
  };
  /// False if it cannot be read, or was not followed by the mark: what is in the place then is of no meaning.
  bool read(const Part& part) const noexcept;
  /// No other process has it.
  std::uint64_t first_mark() const noexcept { return first_mark_; }

  // ---- for people

  /// Who cannot read whom of his machine, of all ranks, and why; empty: all can.
  std::string why_not_read() const;

 private:
  const RankId own_;
  const std::uint64_t first_mark_;
  const std::uint64_t probe_;     // what others try to read
  std::vector<pid_t> processes_;  // by rank; 0: of another machine, or it cannot be read
  std::vector<bool> read_by_;
  std::size_t pairs_ = 0, reading_pairs_ = 0;  // of ranks of one machine, in both orders
  std::string why_not_;
};

struct MpiPlugin;
/// Collective, by what the plug-in offers.
std::shared_ptr<const Neighbours> neighbours_by(const MpiPlugin& plugin, std::uint32_t own);

}  // namespace fairlead::net
