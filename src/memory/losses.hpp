// Loss of a device's memory: its replicas vanish, copies from and to it are cancelled, and data without another valid
// replica of their newest version have no value until they are written again.
#pragma once
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "memory/copy_completion.hpp"
#include "memory/poison.hpp"

namespace fairlead::memory {

class Losses {
 public:
  Losses(State& state, Coherence& coherence, Transfers& transfers, CopyCompletion& completion, Poison& poison)
      : state_(state),
        coherence_(coherence),
        transfers_(transfers),
        completion_(completion),
        poison_(poison) {}

  /// Stores the driver's message for later errors.
  void announce(NodeId node, std::string words) { words_.emplace(node, std::move(words)); }
  /// Marks a node's memory as lost. It must be a device's cache, and tasks that had not started there must hold
  /// nothing. Replicas that started tasks or copies in flight use vanish when those end.
  void lose(NodeId node, Effects& effects);
  /// True if a device was lost.
  bool any() const noexcept { return !words_.empty(); }
  /// The driver's message. Empty: the node is not lost.
  std::string words_of(NodeId node) const {
    const auto found = words_.find(node);
    return found == words_.end() ? std::string() : found->second;
  }

  /// The DeviceLostError of a task that no remaining worker can run.
  std::exception_ptr no_worker_error() const;
  /// The DeviceLostError of a task that reads a lost datum. Null: it reads none.
  std::exception_ptr read_by(const Task& task) const;
  enum class Where : std::uint8_t {
    own_memory,  // user memory, except data whose refresh is postponed
    anywhere,
  };
  /// The DeviceLostError of the first lost datum that the program could read in its home. Null: there is none.
  std::exception_ptr missing(Where where) const;
  /// The DeviceLostError of the first lost datum among `data`. Null: there is none.
  std::exception_ptr missing(std::span<const DatumId> data) const;
  /// The task's outputs share their home with its inputs: if an input was lost, so are the outputs.
  void pass_on(const Task& view_switch);

 private:
  bool is_only_there(const Datum& datum, const Replica& replica) const noexcept;
  void lose(Datum& datum, NodeId with, Effects& effects);
  static Copy* unstarted_copy_of(const Replica& replica) noexcept;
  std::exception_ptr failure(DatumId id, NodeId with) const;

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  CopyCompletion& completion_;
  Poison& poison_;
  std::map<NodeId, std::string> words_;  // driver's messages, by lost node
};

}  // namespace fairlead::memory
