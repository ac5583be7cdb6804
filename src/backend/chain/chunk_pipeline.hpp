// A copy over two links is pipelined in chunks: the second link transfers one chunk while the first transfers the
// next. Between the links a chunk is in a preallocated staging buffer, or in the replica that the intermediate node
// keeps. A chunk that holds a buffer waits for hardware only, so buffers cannot deadlock (docs/memory.md, rule 3).
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "backend/transfer_engine.hpp"

namespace fairlead::backend {

/// A chunk on one of its two links.
struct ChunkTransfer {
  unsigned leg = 0;  ///< 0 or 1: first or second link
  std::byte* buffer = nullptr;
  Bytes first = 0, bytes = 0;      ///< range in the load
  const Transfer* load = nullptr;  ///< the whole transfer
  void* token = nullptr;           ///< argument of hop_done()
};

class ChunkPipeline {
 public:
  struct Settings {
    Bytes chunk_bytes = 0;
    unsigned pieces = 0;          ///< number of buffers; also the limit of chunks in flight per copy
    std::byte* memory = nullptr;  ///< pieces x piece_bytes
  };
  /// `transfer` starts the transfer of a chunk over a link, which ends with hop_done(), possibly before it returns.
  /// `on_done` receives the completion of a load, with the outcome of the first chunk that failed, if any. Both are
  /// called without a lock.
  ChunkPipeline(Settings settings, std::function<void(const ChunkTransfer&)> transfer,
                std::function<void(const Transfer&, const TransferResult&)> on_done);
  ChunkPipeline(const ChunkPipeline&) = delete;
  ChunkPipeline& operator=(const ChunkPipeline&) = delete;

  /// `kept`: host memory that keeps all bytes; null: the chunks pass through buffers. Any thread.
  void start(const Transfer& load, std::byte* kept);
  /// The token determines the Transit object.
  static void hop_done(void* token, const TransferResult& outcome);
  /// Starts and reports nothing afterwards: the threads that call hop_done() are about to end.
  void stop() noexcept;

 private:
  struct Chain {
    Transfer load;
    std::byte* kept;
    Bytes started = 0, finished = 0;
    unsigned in_flight = 0;
    TransferResult outcome{};
  };
  struct Piece {
    ChunkPipeline* owner;
    std::list<Chain>::iterator chain;
    ChunkTransfer hop;
  };
  using Hops = std::vector<ChunkTransfer>;

  void begin_pieces(Hops& to_transfer);
  void over_a_wire(Piece& piece, const TransferResult& outcome);
  void transfer(Hops& hops);

  const Settings settings_;
  const std::function<void(const ChunkTransfer&)> transfer_;
  const std::function<void(const Transfer&, const TransferResult&)> on_done_;
  std::mutex mutex_;  // guards the fields below
  std::list<Chain> chains_;
  std::list<Piece> pieces_;
  std::vector<std::byte*> free_;
  bool stopped_ = false;
};

}  // namespace fairlead::backend
