// See home_values.hpp.
#include "engine/home_values.hpp"

#include <fairlead/error.hpp>

#include <exception>
#include <string>
#include <utility>

#include "engine/runtime_core.hpp"

namespace fairlead::engine {

HomeValues::HomeValues(RuntimeCore& core, bool kept_fresh) : core_(core), kept_fresh_(kept_fresh) {}

void HomeValues::tell(Event& event, EventKind kind) {
  event.kind = kind;
  event.at = core_.world().now();
  core_.application().add(event);
  core_.application().serve_surely();
}

void HomeValues::flush() {
  if (const std::string held = core_.holds().held_for_writing(); !held.empty())
    throw UsageError("flush would send home what is being changed: this thread holds " + held +
                     "\n  Release it first (Hold::release, or the end of its scope).");
  core_.reductions().close_all();
  flush_event_ = {};
  tell(flush_event_, EventKind::flush);
  Engine& engine = core_.engine();
  core_.help_until(
      [&] {
        return engine.locked([&](memory::Memory&) { return !engine.flushing(); }) ||
               engine.stop_reason().error() != 0 || core_.winding_down();
      },
      "flush");
  // No data that are still on their way are waited for when the runtime ends.
  if (core_.winding_down()) engine.stop(std::make_exception_ptr(Error("a flush was given up half-way")));
  core_.throw_if_stopped();
  throw_if_lost(memory::Losses::Where::anywhere);
}

void HomeValues::drop_clean() {
  flush_event_ = {};
  tell(flush_event_, EventKind::drop_clean);
}

void HomeValues::refresh(std::vector<DatumId> data) {
  Engine& engine = core_.engine();
  // Who winds down needs no results; after a stop, nothing moves.
  if (!kept_fresh_ || data.empty() || core_.winding_down() || engine.stop_reason().stopped() ||
      engine.stop_reason().error() != 0)
    return;
  core_.application().serve_surely();  // ends of tasks may not have been applied yet
  engine.locked([&](memory::Memory& memory) {
    std::erase_if(data, [&](DatumId id) { return !memory.datum(id).dirty(); });
  });
  if (data.empty()) return;
  refresh_event_.data = std::move(data);
  tell(refresh_event_, EventKind::refresh);
  core_.help_until([&] {
    return engine.locked([](memory::Memory& memory) { return !memory.flushes().under_way(); }) ||
           engine.stop_reason().error() != 0;
  });
}

void HomeValues::refresh(bool put_off_too) {
  if (!kept_fresh_) return;
  core_.application().serve_surely();  // ends of tasks may not have been applied yet
  refresh(core_.engine().locked(
      [&](memory::Memory& memory) { return memory.flushes().away_from_home(put_off_too); }));
}

void HomeValues::throw_if_lost(memory::Losses::Where where) {
  const auto why =
      core_.engine().locked([&](memory::Memory& memory) { return memory.losses().missing(where); });
  if (why != nullptr) std::rethrow_exception(why);
}

void HomeValues::throw_if_lost(const std::vector<DatumId>& data) {
  const auto why =
      core_.engine().locked([&](memory::Memory& memory) { return memory.losses().missing(data); });
  if (why != nullptr) std::rethrow_exception(why);
}

void HomeValues::put_refresh_off(const RegisteredDatum& datum, bool put_off) {
  core_.engine().put_refresh_off(datum.id, put_off);
}

}  // namespace fairlead::engine
