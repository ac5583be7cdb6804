// The states and limits of holds, and error messages that list them.
#include "engine/hold_registry.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes_text.hpp"
#include "base/pages.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::engine {

// ---- the source

void HoldSource::release(Task& hold, ReadyTasks& ready) {
  auto& record = *static_cast<OpenHold*>(hold.policy_data);
  graph::DependencyGraph::complete(hold, ready.described, ready.recycler);
  if (record.state.load() == OpenHold::State::waiting) settle(record, OpenHold::State::refused);
  record.over.store(true, std::memory_order_release);  // the record may be destroyed after this
}

void HoldSource::count(std::size_t, Recycler&) { core_.world().wake(WakeTarget::application()); }

void HoldSource::granted(Task& hold) {
  auto& record = *static_cast<OpenHold*>(hold.policy_data);
  for (const Access& access : record.accesses)
    record.locations.push_back(
        {core_.world().address_of(memory::location_of(hold, access)), access.is_packed_copy});
  settle(record, OpenHold::State::granted);
  record.grant_notified.store(true, std::memory_order_release);  // the record may be destroyed after this
  core_.world().wake(WakeTarget::application());
}

void HoldSource::settle(OpenHold& record, OpenHold::State state) {
  if (state == OpenHold::State::refused) record.failure = record.task.failure;
  auto callback = std::move(record.callback);
  auto expected = OpenHold::State::waiting;
  const bool settled = record.state.compare_exchange_strong(expected, state);
  if (callback != nullptr && settled)
    core_.engine().callbacks().push(
        [callback = std::move(callback), keep = record.shared_from_this()] { callback(); });
}

// ---- the book

HoldSource& HoldRegistry::new_source() {
  HoldSource& source = sources_.emplace_back(core_);
  source.id = core_.sources().next_id();
  return source;
}

void HoldRegistry::forget_ended() noexcept {
  std::erase_if(open_, [](const auto& record) { return record->is_unused(); });
}

void HoldRegistry::add(std::shared_ptr<OpenHold> record) { open_.push_back(std::move(record)); }

void HoldRegistry::release(OpenHold& record) {
  if (!core_.caller().same_process() || record.release_posted.exchange(true)) return;
  const auto before = record.state.exchange(OpenHold::State::released);
  // the engine has ended it already
  if (before == OpenHold::State::refused) return record.applied.store(true);
  record.hold = &record.task;
  record.data_unused = before != OpenHold::State::granted;
  core_.engine().entrance().post(record, EventKind::hold_released, no_id<WorkerId>, core_.world().now());
  core_.world().process_remote_events();
}

std::size_t HoldRegistry::open() noexcept {
  forget_ended();
  return static_cast<std::size_t>(std::ranges::count_if(open_, [](const auto& record) {
    const auto state = record->state.load();
    return state == OpenHold::State::waiting || state == OpenHold::State::granted;
  }));
}

namespace {
bool held(const OpenHold& record) { return record.state.load() == OpenHold::State::granted; }
}  // namespace

bool HoldRegistry::own() const noexcept {
  return std::ranges::any_of(open_, [](const auto& it) { return held(*it) && it->of_application; });
}
bool HoldRegistry::others() const noexcept {
  return std::ranges::any_of(open_, [](const auto& it) {
    // A released hold that has not ended is about to change something.
    return !it->over.load() && !it->of_application && it->state.load() != OpenHold::State::waiting;
  });
}

bool HoldRegistry::holds(const RegisteredDatum& datum) noexcept {
  return std::ranges::any_of(open_, [&](const auto& it) {
    return !it->over.load() && std::ranges::find(it->uses, &datum, &OpenHold::Use::datum) != it->uses.end();
  });
}

bool HoldRegistry::some_end_by_themselves() const noexcept {
  return std::ranges::any_of(open_, [](const auto& it) {
    return !it->over.load() && (it->releases_itself || it->state.load() == OpenHold::State::released);
  });
}

std::string HoldRegistry::held_for_writing() const {
  for (const auto& it : open_)
    if (held(*it) && it->of_application &&
        std::ranges::any_of(it->uses, [](const auto& use) { return writes(use.mode); }))
      return describe(*it);
  return {};
}

Bytes HoldRegistry::held_bytes() const {
  Bytes bytes = 0;
  std::vector<const RegisteredDatum*> seen;
  for (const auto& it : open_) {
    if (it->state.load() != OpenHold::State::waiting && !held(*it)) continue;
    for (const OpenHold::Use& use : it->uses) {
      if (use.datum->in_place || std::ranges::find(seen, use.datum) != seen.end()) continue;
      seen.push_back(use.datum);
      bytes += whole_pages_for(use.datum->bytes);
    }
  }
  return bytes;
}

bool HoldRegistry::leave(Bytes footprint) {
  if (none()) return true;
  forget_ended();
  const NodeSpec& node = core_.topology().nodes[index(core_.engine().view().host())];
  return held_bytes() + footprint <= whole_pages_in(node.capacity);
}

void HoldRegistry::check_room(Bytes footprint, bool is_hold, const std::string& requester,
                              const detail::Submission& where) {
  forget_ended();
  if (core_.sources().all_over()) largest_footprint_ = 0;
  const NodeSpec& node = core_.topology().nodes[index(core_.engine().view().host())];
  const Bytes capacity = whole_pages_in(node.capacity), before = held_bytes();
  const Bytes for_task = is_hold ? largest_footprint_ : 0;
  if (before + footprint + for_task <= capacity) return;
  std::string text = fmt::format("{} needs {} at once in memory node \"{}\", which can hold {}", requester,
                                 mebibytes_needed(footprint), node.name, mebibytes_there(capacity));
  if (for_task != 0)
    text += fmt::format(";\n  the largest unfinished task also needs {}", mebibytes(for_task));
  if (before != 0) text += fmt::format(";\n  {} of it are held:", mebibytes(before));
  for (const auto& it : open_)
    if (it->state.load() == OpenHold::State::waiting || held(*it)) text += "\n    " + describe(*it);
  text += fmt::format("\n  submitted at {}:{}\n  Release what is held, hold less at a time, or {}.",
                      where.file, where.line,
                      core_.memory_advice(core_.engine().view().host(), before + footprint + for_task));
  throw FootprintError(text);
}

std::string HoldRegistry::describe(const OpenHold& record) const {
  std::string data;
  for (const OpenHold::Use& use : record.uses)
    data += fmt::format("{}{} ({})", data.empty() ? "" : ", ", use.datum->text(), name_of(use.mode));
  return fmt::format("{}, acquired at {}:{}", data, record.file, record.line);
}

std::string HoldRegistry::text() const {
  std::string text;
  for (const auto& it : open_) {
    if (!held(*it) || !it->of_application) continue;
    text += "\n  this thread holds " + describe(*it);
    for (const Access& access : it->accesses) {
      const Task* waiting = graph::DependencyGraph::waiting_behind(access);
      if (waiting == nullptr) continue;
      text += fmt::format("\n    {} waits for {}, submitted at {}:{}", waiting->codelet->name,
                          it->uses[static_cast<std::size_t>(&access - it->accesses.data())].datum->text(),
                          waiting->submitted_at.file, waiting->submitted_at.line);
      break;
    }
  }
  return text + "\n  Release it first (Hold::release, or the end of its scope).";
}

}  // namespace fairlead::engine
