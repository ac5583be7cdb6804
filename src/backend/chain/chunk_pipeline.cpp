// Selects the next chunk and advances chunks from the first link to the second.
#include "backend/chain/chunk_pipeline.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace fairlead::backend {

ChunkPipeline::ChunkPipeline(Settings settings, std::function<void(const ChunkTransfer&)> transfer,
                             std::function<void(const Transfer&, const TransferResult&)> on_done)
    : settings_(settings), transfer_(std::move(transfer)), on_done_(std::move(on_done)) {
  for (unsigned i = 0; i < settings_.pieces; ++i)
    free_.push_back(settings_.memory + i * settings_.chunk_bytes);
}

void ChunkPipeline::start(const Transfer& load, std::byte* kept) {
  Hops hops;
  {
    const std::lock_guard lock(mutex_);
    chains_.push_back({load, kept});
    begin_pieces(hops);
  }
  transfer(hops);
}

/// Starts as many chunks as there are buffers, of the oldest copies first. Requires the lock.
void ChunkPipeline::begin_pieces(Hops& to_transfer) {
  if (stopped_) return;
  for (auto chain = chains_.begin(); chain != chains_.end(); ++chain) {
    while (chain->started < chain->load.bytes && chain->in_flight < settings_.pieces &&
           chain->outcome.succeeded()) {
      if (chain->kept == nullptr && free_.empty()) break;
      Piece& piece = pieces_.emplace_back();
      piece.owner = this;
      piece.chain = chain;
      piece.hop = {.leg = 0,
                   .first = chain->started,
                   .bytes = std::min(settings_.chunk_bytes, chain->load.bytes - chain->started),
                   .load = &chain->load,
                   .token = &piece};
      if (chain->kept != nullptr) {
        piece.hop.buffer = chain->kept + chain->started;
      } else {
        piece.hop.buffer = free_.back();
        free_.pop_back();
      }
      chain->started += piece.hop.bytes;
      ++chain->in_flight;
      to_transfer.push_back(piece.hop);
    }
  }
}

void ChunkPipeline::transfer(Hops& hops) {
  for (const ChunkTransfer& hop : hops) transfer_(hop);
}

void ChunkPipeline::hop_done(void* token, const TransferResult& outcome) {
  Piece& piece = *static_cast<Piece*>(token);
  piece.owner->over_a_wire(piece, outcome);
}

void ChunkPipeline::over_a_wire(Piece& piece, const TransferResult& outcome) {
  Hops hops;
  std::optional<Transfer> over;
  TransferResult of_all;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    Chain& chain = *piece.chain;
    if (!outcome.succeeded() && chain.outcome.succeeded()) chain.outcome = outcome;
    if (piece.hop.leg == 0 && chain.outcome.succeeded()) {
      piece.hop.leg = 1;
      hops.push_back(piece.hop);
    } else {
      if (chain.kept == nullptr) free_.push_back(piece.hop.buffer);
      chain.finished += piece.hop.bytes;
      --chain.in_flight;
      // After an error no more chunks start.
      if (chain.in_flight == 0 && (chain.finished == chain.load.bytes || !chain.outcome.succeeded())) {
        over = chain.load;
        of_all = std::move(chain.outcome);
        chains_.erase(piece.chain);
      }
      pieces_.remove_if([&](const Piece& other) { return &other == &piece; });
      begin_pieces(hops);
    }
  }
  transfer(hops);
  if (over) on_done_(*over, of_all);
}

void ChunkPipeline::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

}  // namespace fairlead::backend
