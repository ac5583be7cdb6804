// What follows when the memory of a device is gone: replicas there vanish, copies to and from it come to nothing, and data
// whose newest version was nowhere else have no value any more, until they are written anew.
#pragma once
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "memory/landing.hpp"
#include "memory/poison.hpp"

namespace fairlead::memory {

class Losses {
 public:
  Losses(State& state, Coherence& coherence, Transfers& transfers, Landing& landing, Poison& poison)
      : state_(state), coherence_(coherence), transfers_(transfers), landing_(landing), poison_(poison) {}

  /// What is said of it from now on.
  void announce(NodeId node, std::string words) { words_.emplace(node, std::move(words)); }
  /// A cache, and not that of the host; tasks that had not begun there hold nothing. What those that had begun use, and
  /// what copies under way read or write there, vanishes when they end.
  void lose(NodeId node, Effects& effects);
  bool any() const noexcept { return !words_.empty(); }
  /// Empty: it is not lost.
  std::string words_of(NodeId node) const {
    const auto found = words_.find(node);
    return found == words_.end() ? std::string() : found->second;
  }

  /// The DeviceLostError of a task that nobody else can run.
  std::exception_ptr nobody_left() const;
  /// The DeviceLostError of a task that reads what was lost; null: it reads nothing such.
  std::exception_ptr read_by(const Task& task) const;
  enum class Where : std::uint8_t {
    own_memory,  // the program's, but for data whose refresh is put off
    anywhere,
  };
  /// Of the first datum that the program would look for in its home and not find. Null: there is none.
  std::exception_ptr missing(Where where) const;
  /// The same, of these data only.
  std::exception_ptr missing(std::span<const DatumId> data) const;
  /// What the task writes shares its home with what it reads: if that was lost, so is this.
  void pass_on(const Task& view_switch);

 private:
  bool is_only_there(const Datum& datum, const Replica& replica) const noexcept;
  void lose(Datum& datum, NodeId with, Effects& effects);
  static Copy* unstarted_copy_of(const Replica& replica) noexcept;
  std::exception_ptr failure(DatumId id, NodeId with) const;

  State& state_;
  Coherence& coherence_;
  Transfers& transfers_;
  Landing& landing_;
  Poison& poison_;
  std::map<NodeId, std::string> words_;  // of those that are lost
};

}  // namespace fairlead::memory
