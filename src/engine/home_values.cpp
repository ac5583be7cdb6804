// Flush and refresh: requests the transfers and waits for them.
#include "engine/home_values.hpp"

#include <fairlead/error.hpp>

#include <exception>
#include <string>
#include <utility>

#include "engine/runtime_core.hpp"

namespace fairlead::engine {

HomeValues::HomeValues(RuntimeCore& core, bool kept_fresh) : core_(core), kept_fresh_(kept_fresh) {}

void HomeValues::serve(Event& event, EventKind kind) {
  event.kind = kind;
  event.at = core_.world().now();
  core_.application().add(event);
  core_.application().serve_blocking();
}

void HomeValues::flush() {
  if (const std::string held = core_.holds().held_for_writing(); !held.empty())
    throw UsageError("flush would write back data that are being modified: this thread holds " + held +
                     "\n  Release it first (Hold::release, or the end of its scope).");
  core_.reductions().close_all();
  flush_event_ = {};
  serve(flush_event_, EventKind::flush);
  Engine& engine = core_.engine();
  core_.wait_until(
      [&] {
        return engine.locked([&](memory::Memory&) { return !engine.flushing(); }) ||
               engine.stop_reason().error() != 0 || core_.winding_down();
      },
      "flush");
  // The runtime's end must not wait for data in flight.
  if (core_.winding_down()) engine.stop(std::make_exception_ptr(Error("a flush was cancelled")));
  core_.throw_if_stopped();
  throw_if_lost(memory::Losses::Where::anywhere);
}

void HomeValues::drop_clean() {
  flush_event_ = {};
  serve(flush_event_, EventKind::discard_clean);
}

void HomeValues::refresh(std::vector<DatumId> data) {
  if (!kept_fresh_ || data.empty() || !can_refresh()) return;
  stopping_on_failure([&] {
    core_.engine().locked([&](memory::Memory& memory) {
      std::erase_if(data, [&](DatumId id) { return !memory.datum(id).dirty(); });
    });
    write_back(std::move(data));
  });
}

void HomeValues::refresh(bool put_off_too) {
  if (!kept_fresh_ || !can_refresh()) return;
  stopping_on_failure([&] {
    write_back(core_.engine().locked(
        [&](memory::Memory& memory) { return memory.flushes().stale_homes(put_off_too); }));
  });
}

/// A program that sees this fail may free its memory before the runtime ends, which would then write to it.
template <class Refresh>
void HomeValues::stopping_on_failure(const Refresh& refresh) {
  try {
    refresh();
  } catch (...) {
    core_.engine().stop(std::current_exception());
    throw;
  }
}

bool HomeValues::can_refresh() {
  if (core_.winding_down()) return false;  // after wind_down() results are not needed
  core_.application().serve_blocking();    // completions and failures of copies may not have been applied yet
  core_.throw_if_stopped();
  return true;
}

void HomeValues::write_back(std::vector<DatumId> data) {
  if (data.empty()) return;
  Engine& engine = core_.engine();
  refresh_event_.data = std::move(data);
  serve(refresh_event_, EventKind::refresh);
  core_.wait_until([&] {
    return engine.locked([](memory::Memory& memory) { return !memory.flushes().under_way(); }) ||
           engine.stop_reason().error() != 0;
  });
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
