// Turns copies into loads, and completions of loads into events.
#include "backend/copy_dispatcher.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fairlead::backend {

CopyDispatcher::CopyDispatcher(World world, std::unique_ptr<engine::EngineClient> reporter)
    : world_(std::move(world)),
      topology_(world_.engine->memory().topology()),
      routes_(world_.engine->memory().routes()),
      engines_(topology_.links.size()),
      reporter_(std::move(reporter)) {
  reporter_->share();
}

void CopyDispatcher::set_engine(LinkId link, TransferEngine& engine) {
  engines_[index(link)] = &engine;
  if (std::ranges::find(all_, &engine) == all_.end()) all_.push_back(&engine);
}

void CopyDispatcher::resolve_composite_links() {
  chains_.emplace(
      TwoLinkTransfers::ChainContext{.topology = &topology_,
                                     .routes = &routes_,
                                     .engines = engines_,
                                     .addresses = world_.addresses,
                                     .stop_run = [this](auto why) { world_.engine->stop(std::move(why)); }},
      world_.transit);
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const std::vector<LinkId>& legs = topology_.links[i].physical_links;
    if (legs.size() == 1) engines_[i] = engines_[index(legs.front())];
    if (legs.size() == 2) engines_[i] = &*chains_;
  }
  all_.push_back(&*chains_);
}

void CopyDispatcher::start(memory::Copy& copy) {
  copy.at = world_.now();
  const memory::Route& route = routes_.of(copy);
  TransferEngine* const engine = route.exists() ? engines_[index(route.link)] : nullptr;
  if (engine == nullptr) throw Error("internal: a copy between nodes without a link");
  const bool one_link = route.legs.size() == 1;
  engine->start({.link = one_link ? route.legs.front().link : route.link,
                 .away_from_home = one_link ? route.legs.front().outward
                                            : topology_.links[index(route.link)].first == copy.from->node,
                 .from = world_.addresses->place_of(copy.from->location()),
                 .to = world_.addresses->place_of(copy.to->location()),
                 .bytes = copy.bytes,
                 .layout = copy.layout,
                 .copy = &copy,
                 .receiver = this,
                 .token = &copy});
}

void CopyDispatcher::completed(void* token, const TransferResult& outcome) noexcept {
  memory::Copy& copy = *static_cast<memory::Copy*>(token);
  const Time end = world_.now();
  copy.duration = end - copy.at;
  copy.at = end;
  copy.error_number = outcome.error_number;
  try {
    if (!outcome.succeeded()) copy.failure = failure_of(copy, outcome);
  } catch (...) {  // no memory for the text: report that failure
    copy.failure = std::current_exception();
  }
  copy.kind = outcome.succeeded() ? EventKind::copy_finished : EventKind::copy_failed;
  {
    const std::lock_guard guard(mutex_);
    reporter_->add(copy);
    reporter_->serve();
  }
  reporter_->run_callbacks();
  world_.on_reported();
}

/// Null: the errno describes the error.
std::exception_ptr CopyDispatcher::failure_of(const memory::Copy& copy, const TransferResult& outcome) const {
  if (outcome.failure != nullptr || outcome.description.empty()) return outcome.failure;
  const memory::Route& route = routes_.of(copy);
  const LinkId link = route.legs.size() == 1 ? route.legs.front().link : route.link;
  const auto name = [&](const memory::Replica* at) { return topology_.nodes[index(at->node)].name; };
  return std::make_exception_ptr(SystemError(fmt::format(
      "copying {} ({} bytes) from {} to {} over the link \"{}\" failed: {}", world_.name_of(copy.datum),
      copy.bytes, name(copy.from), name(copy.to), topology_.links[index(link)].name, outcome.description)));
}

void CopyDispatcher::skip_throttling() noexcept {
  for (TransferEngine* const engine : all_) engine->skip_throttling();
}

std::size_t CopyDispatcher::threads() const noexcept {
  std::size_t threads = 0;
  for (const TransferEngine* const engine : all_) threads += engine->threads();
  return threads;
}

void CopyDispatcher::stop_user_memory_copies() noexcept {
  for (const LinkSpec& link : topology_.links)
    if (topology_.has_kind(link.first, MemoryKind::user) || topology_.has_kind(link.second, MemoryKind::user))
      for (const LinkId leg : link.physical_links)
        if (engines_[index(leg)] != nullptr) engines_[index(leg)]->stop();
}

/// In reverse order: chains submit to device links, and these to the disk.
void CopyDispatcher::stop() noexcept {
  std::for_each(all_.rbegin(), all_.rend(), [](TransferEngine* engine) { engine->stop(); });
}

}  // namespace fairlead::backend
