// Holds in the engine: the application's accesses, which wait in the graph and are admitted on the host's
// node like tasks, and then end when the application says so (rule 9 of docs/memory.md).
#pragma once
#include <span>
#include <vector>

#include "base/deliberate_mistake.hpp"
#include "engine/deliveries.hpp"
#include "engine/endings.hpp"
#include "engine/engine_view.hpp"
#include "engine/options.hpp"

namespace fairlead::engine {

/// Under the engine's lock.
class Holds {
 public:
  Holds(memory::Memory& memory, memory::Effects& effects, const EngineView& view, LaneGate& lane,
        Endings& endings, Journal& journal, Deliveries& deliveries, const Options& options)
      : memory_(memory),
        effects_(effects),
        view_(view),
        lane_(lane),
        endings_(endings),
        journal_(journal),
        deliveries_(deliveries),
        mistake_(options.mistake) {}

  /// All that was before it is over.
  void ready(Task& hold, Commands& out);
  /// Admits the holds that fit now. True if there is one less that waits.
  bool admit(Commands& out);
  /// All its data are there.
  void landed(Task& hold, Commands& out);
  /// Some of its data could not be brought.
  void failed(Task& hold, Commands& out);
  void released(HoldRelease& release, Commands& out);

  /// For memory; oldest first.
  std::span<Task* const> waiting() const noexcept { return waiting_; }
  std::span<Task* const> arriving() const noexcept { return arriving_; }
  std::span<Task* const> granted() const noexcept { return granted_; }
  bool none() const noexcept { return waiting_.empty() && arriving_.empty() && granted_.empty(); }

 private:
  void view_switched(Task& hold, Commands& out);

  memory::Memory& memory_;
  memory::Effects& effects_;
  const EngineView& view_;
  LaneGate& lane_;
  Endings& endings_;
  Journal& journal_;
  Deliveries& deliveries_;
  const DeliberateMistake mistake_;
  std::vector<Task*> waiting_, arriving_, granted_;
};

}  // namespace fairlead::engine
