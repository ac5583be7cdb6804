// Counting, handing out and waiting, common to all task sources.
#include "engine/counted_source.hpp"

namespace fairlead::engine {

namespace {
RuntimeCore& checked(RuntimeCore& core) {
  core.caller().check("the beginning of a flow");
  return core;
}
}  // namespace

CountedSource::CountedSource(RuntimeCore& core)
    : core_(checked(core)), progress_(core.sources().new_progress()) {
  id = core.sources().next_id();
}

CountedSource::~CountedSource() {
  if (core_.caller().may_wait() && done() == submitted_) core_.sources().give_back(progress_);
}

void CountedSource::count(std::size_t tasks, Recycler& recycler) {
  if (&recycler == &core_.application().recycler()) return progress_.count_by_application(tasks);
  // Once the last task is counted this source may be destroyed.
  RunnableWorld& world = core_.world();
  if (progress_.count(tasks)) world.wake(WakeTarget::application());
}

void CountedSource::hand_out() {
  core_.engine().backlog().add(*this);
  core_.application().ask_for_more();
  core_.application().serve();
}

bool CountedSource::wait_until_done(std::uint64_t target, bool ending) {
  const auto is_interrupted = [&] { return interruption_ != nullptr && !ending && interruption_->is_due(); };
  for (;;) {
    progress_.set_target(target);
    const bool over = core_.wait([&] { return progress_.reached(target) || is_interrupted(); }, ending);
    const bool reached = progress_.reached(target);
    progress_.no_target();
    if (!over || reached || !is_interrupted()) return over;  // the wait also ends when the run is stopped
    interruption_->serve();
  }
}

}  // namespace fairlead::engine
