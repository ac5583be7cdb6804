// See live_run.hpp.
#include "front/live/live_run.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/log.hpp"
#include "front/ranks/rank_context.hpp"
#include "net/communicator.hpp"
#include "net/process_address.hpp"

namespace fairlead::front {

std::string LiveRun::serve(std::uint64_t port) {
  if (page_) return page_->address();
  RankContext* const ranks = rank_context(core_.surroundings());
  fixed_facts_ = {.program = program_text(), .host = net::own_address().host};
  if (ranks != nullptr) {
    fixed_facts_.rank = static_cast<std::uint32_t>(ranks->communicator().own());
    fixed_facts_.ranks = ranks->communicator().ranks();
  }
  if (port != 0) port += fixed_facts_.rank;
  constexpr std::uint64_t last_port = 65535;
  if (port > last_port)
    throw ConfigError(fmt::format("the live page of rank {} would have port {}; the last port is {}",
                                  fixed_facts_.rank, port, last_port));
  LivePage::Options options;
  options.server.address = settings_.text("live-address");
  options.server.port = static_cast<std::uint16_t>(port);
  options.requires_token = settings_.flag("live-token");
  page_.emplace(options, [this](bool ending) { return state(ending); });
  return page_->address();
}

void LiveRun::serve_by_setting(const Config& settings) {
  if (!settings.has("live")) return;
  const std::string address = serve(settings.count("live"));
  if (fixed_facts_.ranks == 1)
    log_message("fairlead: live page: {}\n", address);
  else
    log_message("fairlead: live page of rank {} on {}: {}\n", fixed_facts_.rank, fixed_facts_.host, address);
}

void LiveRun::end(bool by_exception) noexcept {
  if (!page_) return;
  if (by_exception) note_failure("the program ended its runtime because of an exception");
  page_->end();
  page_.reset();
}

void LiveRun::note_failure(const std::string& why) noexcept {
  const std::lock_guard guard(mutex_);
  if (end_.failed) return;  // the first error is the cause
  end_.failed = true;
  try {
    end_.why = why;
  } catch (const std::exception&) {
    // No memory: the page shows a failure without its cause.
  }
}

Json LiveRun::state(bool ending) const {
  LiveFacts facts = fixed_facts_;
  facts.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  facts.progress = progress_.now();
  if (RankContext* const ranks = rank_context(core_.surroundings())) {
    const net::NetworkTraffic sent = ranks->communicator().traffic();
    facts.messages = sent.messages();
    facts.value_bytes = sent.payload_bytes + sent.eager_bytes + sent.read_bytes;
  }
  if (!ending) return live_state(facts, core_, situation_(), nullptr);
  const LiveEnd end = [this] {
    const std::lock_guard guard(mutex_);
    return end_;
  }();
  return live_state(facts, core_, situation_(), &end);
}

}  // namespace fairlead::front
