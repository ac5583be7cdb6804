// The copies of a run: passes each to the engine of its link and reports its completion to the engine.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/chain/two_link_transfers.hpp"
#include "backend/transfer_engine.hpp"
#include "base/time.hpp"
#include "engine/engine_client.hpp"
#include "machine/topology.hpp"
#include "memory/routes.hpp"

namespace fairlead::backend {

class CopyDispatcher final : private TransferListener {
 public:
  struct World {
    engine::Engine* engine;
    std::function<Time()> now;
    const Addresses* addresses;
    StagingBuffers transit{};
    std::function<std::string(DatumId)> name_of;
    std::function<void()> on_reported;  ///< called after a completion was reported, without a lock
  };
  /// `reporter`: shared by the threads of all transfer engines.
  CopyDispatcher(World world, std::unique_ptr<engine::EngineClient> reporter);

  /// Sets the engine of a direct link. Before the first copy.
  void set_engine(LinkId link, TransferEngine& engine);
  /// Sets the transfer engines of links that consist of others. Call it when all direct links have theirs.
  void resolve_composite_links();
  /// Throws an Error if the link has no engine.
  void start(memory::Copy& copy);

  void skip_throttling() noexcept;
  std::size_t threads() const noexcept;
  /// Ends all copies from and to the program's own memory before it returns.
  void stop_user_memory_copies() noexcept;
  /// Ends all other copies as well.
  void stop() noexcept;

 private:
  void completed(void* token, const TransferResult& outcome) noexcept override;
  std::exception_ptr failure_of(const memory::Copy& copy, const TransferResult& outcome) const;

  const World world_;
  const Topology& topology_;
  const memory::Routes& routes_;
  std::vector<TransferEngine*> engines_;  // by LinkId; null: no engine
  std::vector<TransferEngine*> all_;      // each once, in the order of registration
  std::optional<TwoLinkTransfers> chains_;
  std::mutex mutex_;  // guards the reporter
  const std::unique_ptr<engine::EngineClient> reporter_;
};

}  // namespace fairlead::backend
