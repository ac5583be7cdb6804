// DARTS that looks a little further than the ready tasks, at the later updates of the tiles that they write.
// Not published: variants that moved a sixth less than DARTS in simulations, as it writes tiles back between
// two updates.
//
// chain: an update that makes later updates of the same tile runnable, whose other inputs are finished,
// weighs as much as all of them when its tile is considered for loading.
//
// defer: a task whose tile is not in memory is held back until the next update of the tile is unlocked too,
// so that the tile is loaded for two; never when its node has nothing else to do.
#pragma once
#include <vector>

#include "schedule/darts/darts.hpp"
#include "schedule/index/lookahead.hpp"

namespace fairlead::schedule {

enum class DartsVariant : std::uint8_t { chain, defer };

class DartsAhead final : public Darts {
 public:
  DartsAhead(DartsVariant variant, const DartsRules& rules) : Darts(rules), variant_(variant) {}

  Interest interests() const override { return Darts::interests() | Interest::submitted; }
  std::size_t horizon() const override { return 16'384; }
  void submitted(Task& task) override;
  void cancelled(Task& task) override;
  void finished(Task& task, WorkerId worker, Duration took) override;
  void removed(DatumId datum) override {
    Darts::removed(datum);
    lookahead_.removed(datum);
  }

 private:
  void enter(HeldTask& held) override;
  bool recall(Slot slot) override;
  std::int64_t later_work(const AheadTask& ahead) const;
  bool worth_waiting_for(const HeldTask& held);
  void next_is_unlocked(AheadTask& unlocked);
  void wait_no_longer(HeldTask& held);

  static constexpr int longest_chain = 2;  // updates looked at behind one

  DartsVariant variant_;
  Lookahead lookahead_;
  std::vector<AheadTask*> unlocked_;
};

std::unique_ptr<Policy> make_darts_chain(const PolicyOptions& options);
std::unique_ptr<Policy> make_darts_defer(const PolicyOptions& options);

}  // namespace fairlead::schedule
