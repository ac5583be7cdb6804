// Startup of a runtime as one of several ranks. See rank.hpp and <fairlead/ranks.hpp>.
#include "front/runtime/rank.hpp"

#include <sched.h>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backend/device_list.hpp"
#include "config/environment.hpp"
#include "config/launcher.hpp"
#include "front/ranks/file_of_rank.hpp"
#include "machine/machine.hpp"
#include "net/communicator.hpp"
#include "net/direct_reads.hpp"
#include "net/launched.hpp"
#include "net/local/exchange.hpp"
#include "net/network_thread.hpp"

namespace fairlead {

namespace front {

namespace {

// Values below least_worth_reading travel as fast by MPI (docs/ranks.md).
constexpr Bytes share_of_what_travels_along = 32;
constexpr Bytes least_worth_reading = Bytes{16} << 10;

class NetworkPoller final : public backend::Poller {
 public:
  NetworkPoller(std::shared_ptr<net::Network> network, backend::BackendHost& site)
      : network_(std::move(network)), site_(site) {}
  bool poll() noexcept override {
    return caught([this] { return network_->poll(); });
  }
  bool is_active() const noexcept override { return network_->is_active(); }
  bool application_only() const noexcept override { return network_->driven_by_one_thread(); }
  bool has_pending() const noexcept override { return network_->has_poke(); }
  void send_pending() noexcept override {
    caught([this] { return network_->deliver_poke(); });
  }

 private:
  template <class Call>
  bool caught(const Call& call) noexcept {
    try {
      return call();
    } catch (...) {
      site_.abort_run(std::current_exception());
      return true;
    }
  }
  const std::shared_ptr<net::Network> network_;
  backend::BackendHost& site_;
};

/// Drives the network by a thread of its own if a core is free for it, otherwise by the workers.
class NetworkPart final : public backend::BackendInstance {
 public:
  NetworkPart(std::shared_ptr<net::Network> network, std::size_t cores)
      : network_(std::move(network)), cores_(cores) {}
  void attach(backend::BackendHost& site) override {
    if (!network_->needs_polling()) return;
    if (has_own_thread(site)) {
      thread_.emplace(network_, [&site](std::exception_ptr why) { site.abort_run(std::move(why)); });
      return;
    }
    lookout_ = std::make_unique<NetworkPoller>(network_, site);
    site.set_poller(*lookout_);
  }

 private:
  bool has_own_thread(const backend::BackendHost& site) const {
    const std::string asked = site.surroundings().config->text("network-thread");
    const bool forbidden = network_->driven_by_one_thread();
    if (asked == "on" && forbidden)
      throw ConfigError("--network-thread on: this MPI may be called by the program's thread alone (" +
                        network_->description() + ")");
    if (asked != "auto") return asked == "on";
    return !forbidden && network_->ranks() > 1 && cores_ > site.topology().workers.size();
  }

  const std::shared_ptr<net::Network> network_;
  const std::size_t cores_;
  std::unique_ptr<NetworkPoller> lookout_;
  std::optional<net::NetworkThread> thread_;
};

class NetworkBackend final : public backend::Backend {
 public:
  /// `cores`: the cores that the rank may use.
  NetworkBackend(std::shared_ptr<net::Network> network, std::size_t cores)
      : network_(std::move(network)), cores_(cores) {}
  std::string_view kind() const noexcept override { return "network"; }
  std::unique_ptr<backend::BackendInstance> make() const override {
    return std::make_unique<NetworkPart>(network_, cores_);
  }

 private:
  const std::shared_ptr<net::Network> network_;
  const std::size_t cores_;
};

/// Divides the cores that several ranks share: each rank is bound to its own cores, or to one shared core if there are
/// fewer cores than ranks.
void keep_to_part(const net::Network::Sharing& sharing) {
  if (sharing.of_processors < 2) return;
  const auto cores = machine::detect_processors().cores;
  const std::size_t ranks = sharing.of_processors, place = sharing.place, all = cores.size();
  const std::size_t first = ranks <= all ? place * all / ranks : place % all;
  const std::size_t end = ranks <= all ? (place + 1) * all / ranks : first + 1;
  cpu_set_t own;
  CPU_ZERO(&own);
  for (std::size_t i = first; i < end; ++i) CPU_SET(cores[i].processing_unit, &own);
  // If the system rejects the binding, all ranks keep sharing all cores.
  static_cast<void>(::sched_setaffinity(0, sizeof own, &own));
}

}  // namespace

void throw_taken(const Rank& rank) {
  throw UsageError(fmt::format("rank {} already has a runtime", rank.number()));
}

Config config_of(const Config& config, const Rank& rank) {
  if (rank.network != nullptr && rank.network->is_claimed()) throw_taken(rank);
  Config own = config;
  if (rank.network != nullptr && own.has("live")) own.set("live", "none");  // opened when the rank is known
  if (rank.network != nullptr && !own.has("memory"))
    own.set("memory", machine::discover().memory.usable_bytes() / rank.network->sharing().ranks);
  if (rank.network != nullptr && rank.network->needs_polling() && own.text("network-thread") == "on" &&
      !own.has("workers"))
    own.set("workers", std::uint64_t{std::max(2U, machine::discover().workers) - 1});  // it needs a core
  if (rank.network != nullptr && own.has("devices")) {
    const net::Network::Sharing sharing = rank.network->sharing();
    own.set("devices", backend::devices_of_rank(own.text("devices"), backend::default_backends(),
                                                sharing.place_on_machine, sharing.ranks));
  }
  for (const std::string_view key : {"event-log", "record-flow"})
    if (own.has(key)) own.set(key, file_of_rank(own.text(key), rank.number()));
  return own;
}

net::Protocol protocol_of(const Config& config, Bytes capacity, net::Network& network) {
  net::Protocol protocol;
  protocol.eager_bytes = config.bytes("eager-limit");
  protocol.tree_from = config.count("broadcast-tree");
  // Eager messages of all other ranks together lie outside the memory pool, so their credit is a small share of this
  // rank's memory limit. Other ranks cannot compute it from their own limit; each rank therefore announces its credit.
  protocol.exchanges_credit = true;
  protocol.credit_bytes =
      std::min(protocol.credit_bytes, capacity / share_of_what_travels_along / network.ranks());
  const std::string asked = config.text("node-local-reads");
  if (asked == "off") network.set_direct_reads(nullptr);
  const net::DirectReads* const direct_reads = network.direct_reads();
  if (direct_reads == nullptr) return protocol;
  if (const std::string why = direct_reads->why_not_read(); asked == "on" && !why.empty())
    throw ConfigError("--node-local-reads on: " + why);
  protocol.offered_from = least_worth_reading;
  protocol.read_by = direct_reads->read_by();
  protocol.first_mark = direct_reads->first_mark();
  return protocol;
}

namespace {
/// Why no values are received into device memory. `cuda`: a CUDA device is used.
std::string why_in_ram(const Topology& topology, bool cuda, const net::Network& network) {
  if (topology.devices().empty()) return "no device is used";
  return cuda ? network.why_not_into_devices()
              : "none of the devices is one of CUDA, which alone others than its own workers write";
}
}  // namespace

ReceivePlacementChoice landing_of(const Config& config, engine::RuntimeCore& core,
                                  const net::Network& network) {
  if (network.ranks() == 1) return {};
  const std::string asked = config.text("receive-into");
  ReceivePlacementChoice choice{
      .landing = landing_in(asked).value(), .devices = std::vector<bool>(), .text = {}};
  const Topology& topology = core.topology();
  const bool automatic = choice.landing == ReceivePlacement::automatic;
  bool cuda = false;
  std::string names;
  for (const NodeId device : topology.devices()) {
    const DeviceMemory* const memory = core.world().device_memory(device);
    const bool is_cuda = memory != nullptr && !memory->is_ram();
    cuda |= is_cuda;
    // Emulated devices are for tests, and any network can write their memory. The automatic choice leaves them out,
    // because receiving directly would skip their emulated link.
    const bool can = is_cuda ? network.why_not_into_devices().empty() : memory != nullptr && !automatic;
    choice.devices->push_back(can);
    if (can) names += (names.empty() ? "" : ", ") + topology.nodes[index(device)].name;
  }
  if (choice.landing == ReceivePlacement::host) {
    choice.text = "in RAM, as set by --receive-into";
  } else if (!names.empty()) {
    choice.text = fmt::format("in RAM or in {}, {}", names,
                              automatic ? "where the task is expected to run that reads them"
                              : choice.landing == ReceivePlacement::advised ? "as the program advises"
                                                                            : "by chance");
  } else if (automatic) {
    choice.text = "in RAM: " + why_in_ram(topology, cuda, network);
  } else {
    throw ConfigError(fmt::format("--receive-into {}: {}", asked, why_in_ram(topology, cuda, network)));
  }
  return choice;
}

backend::Backends backends_of(const Rank& rank) {
  backend::Backends backends = backend::default_backends();
  if (rank.network != nullptr)
    backends.push_back(std::make_shared<NetworkBackend>(
        rank.network, rank.network->needs_polling() ? machine::discover().workers : 0));
  return backends;
}

}  // namespace front

std::uint32_t Rank::number() const noexcept {
  return network == nullptr ? 0 : static_cast<std::uint32_t>(network->own());
}
std::uint32_t Rank::count() const noexcept { return network == nullptr ? 1 : network->ranks(); }

bool Rank::in_process() const noexcept { return network != nullptr && network->in_process(); }
void Rank::give_up(const std::string& why) const {
  if (network == nullptr || !network->claim()) return;
  try {
    net::Communicator(network, net::Protocol{}).fail(why);
  } catch (const std::bad_alloc&) {
    network->abort_out_of_memory();
    throw;
  }
}

std::vector<Rank> ranks_in_process(std::uint32_t count) {
  const auto exchange = std::make_shared<net::Exchange>(count);
  std::vector<Rank> ranks;
  for (std::uint32_t i = 0; i < count; ++i)
    ranks.push_back({std::make_shared<net::LocalRank>(exchange, net::RankId{i})});
  return ranks;
}

Rank launched_rank() {
  const auto launched = config::detect_launcher(config::process_environment());
  if (!launched) return {};
  Rank rank{net::network_of(*launched, net::plugin_folders())};
  front::keep_to_part(rank.network->sharing());
  return rank;
}

}  // namespace fairlead
