// From copies to loads, and from their ends to events; see copies.hpp.
#include "backend/copies.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fairlead::backend {

Copies::Copies(World world, std::unique_ptr<engine::Reporter> reporter)
    : world_(std::move(world)),
      topology_(world_.engine->memory().topology()),
      routes_(world_.engine->memory().routes()),
      carriers_(topology_.links.size()),
      reporter_(std::move(reporter)) {
  reporter_->share();
}

void Copies::carry(LinkId link, Carrier& carrier) {
  carriers_[index(link)] = &carrier;
  if (std::ranges::find(all_, &carrier) == all_.end()) all_.push_back(&carrier);
}

void Copies::complete() {
  chains_.emplace(Chains::World{.topology = &topology_,
                                .routes = &routes_,
                                .carriers = carriers_,
                                .addresses = world_.addresses,
                                .stop_run = [this](auto why) { world_.engine->stop(std::move(why)); }},
                  world_.transit);
  for (std::size_t i = 0; i < carriers_.size(); ++i) {
    const std::vector<LinkId>& legs = topology_.links[i].legs;
    if (legs.size() == 1) carriers_[i] = carriers_[index(legs.front())];
    if (legs.size() == 2) carriers_[i] = &*chains_;
  }
  all_.push_back(&*chains_);
}

void Copies::start(memory::Copy& copy) {
  copy.at = world_.now();
  const memory::Route& route = routes_.of(copy);
  Carrier* const carrier = route.exists() ? carriers_[index(route.link)] : nullptr;
  if (carrier == nullptr) throw Error("internal: a copy between nodes that nobody joins");
  const bool one_wire = route.legs.size() == 1;
  carrier->start({.link = one_wire ? route.legs.front().link : route.link,
                  .away_from_home = one_wire ? route.legs.front().away_from_home
                                             : topology_.links[index(route.link)].first == copy.from->node,
                  .from = world_.addresses->place_of(copy.from->location()),
                  .to = world_.addresses->place_of(copy.to->location()),
                  .bytes = copy.bytes,
                  .layout = copy.layout,
                  .copy = &copy,
                  .receiver = this,
                  .token = &copy});
}

void Copies::over(void* token, const Outcome& outcome) noexcept {
  memory::Copy& copy = *static_cast<memory::Copy*>(token);
  const Time end = world_.now();
  copy.duration = end - copy.at;
  copy.at = end;
  copy.error_number = outcome.error_number;
  try {
    if (!outcome.good()) copy.failure = failure_of(copy, outcome);
  } catch (...) {  // no memory for the text: then that is the failure
    copy.failure = std::current_exception();
  }
  copy.kind = outcome.good() ? EventKind::copy_finished : EventKind::copy_failed;
  {
    const std::lock_guard guard(mutex_);
    reporter_->add(copy);
    reporter_->serve();
  }
  reporter_->run_callbacks();
  world_.told();
}

/// Null: the system's word for the error says it all.
std::exception_ptr Copies::failure_of(const memory::Copy& copy, const Outcome& outcome) const {
  if (outcome.failure != nullptr || outcome.words.empty()) return outcome.failure;
  const memory::Route& route = routes_.of(copy);
  const LinkId wire = route.legs.size() == 1 ? route.legs.front().link : route.link;
  const auto name = [&](const memory::Replica* at) { return topology_.nodes[index(at->node)].name; };
  return std::make_exception_ptr(SystemError(fmt::format(
      "copying {} ({} bytes) from {} to {} over the link \"{}\" failed: {}", world_.name_of(copy.datum),
      copy.bytes, name(copy.from), name(copy.to), topology_.links[index(wire)].name, outcome.words)));
}

void Copies::hurry() noexcept {
  for (Carrier* const carrier : all_) carrier->hurry();
}

std::size_t Copies::threads() const noexcept {
  std::size_t threads = 0;
  for (const Carrier* const carrier : all_) threads += carrier->threads();
  return threads;
}

void Copies::stop_those_of_the_program() noexcept {
  for (const LinkSpec& link : topology_.links)
    if (topology_.is(link.first, MemoryKind::user) || topology_.is(link.second, MemoryKind::user))
      for (const LinkId leg : link.legs)
        if (carriers_[index(leg)] != nullptr) carriers_[index(leg)]->stop();
}

/// In the opposite order: chains give wires work, wires the disk.
void Copies::stop() noexcept {
  std::for_each(all_.rbegin(), all_.rend(), [](Carrier* carrier) { carrier->stop(); });
}

}  // namespace fairlead::backend
