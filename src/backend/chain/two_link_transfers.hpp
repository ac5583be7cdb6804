// Routes of two links through host memory: disk to device, or device to device. The engines of both links move the
// copy chunk by chunk (chunk_pipeline.hpp).
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/chain/chunk_pipeline.hpp"
#include "backend/transfer_engine.hpp"
#include "machine/topology.hpp"
#include "memory/routes.hpp"

namespace fairlead::backend {

/// Staging buffers for copies from or to devices through host memory.
struct StagingBuffers {
  std::byte* memory = nullptr;  ///< pieces x piece_bytes for each device; aligned for direct I/O
  Bytes chunk_bytes = 0;
  unsigned chunks = 0;
};

class TwoLinkTransfers final : public TransferEngine, private TransferListener {
 public:
  struct ChainContext {
    const Topology* topology;
    const memory::Routes* routes;
    std::span<TransferEngine* const> engines;  ///< by LinkId; those of direct links are set before the first
                                               ///< start()
    const Addresses* addresses;
    std::function<void(std::exception_ptr)> stop_run;  ///< called if the next chunk could not be started
  };
  TwoLinkTransfers(ChainContext world, const StagingBuffers& buffers);

  void start(const Transfer& load) override;
  void stop() noexcept override;

 private:
  void transfer(const ChunkTransfer& hop);
  void completed(void* token, const TransferResult& outcome) noexcept override;

  const ChainContext world_;
  std::vector<NodeId> devices_;
  std::vector<std::unique_ptr<ChunkPipeline>> transits_;  // by device
};

}  // namespace fairlead::backend
