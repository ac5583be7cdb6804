// Which piece goes next, and what follows when it is over a wire; see transit.hpp.
#include "backend/transit/transit.hpp"

#include <algorithm>

namespace fairlead::backend {

Transit::Transit(Settings settings, std::function<void(const Hop&)> carry,
                 std::function<void(void* copy, int error_number)> on_done)
    : settings_(settings), carry_(std::move(carry)), on_done_(std::move(on_done)) {
  for (unsigned i = 0; i < settings_.pieces; ++i)
    free_.push_back(settings_.memory + i * settings_.piece_bytes);
}

void Transit::start(void* copy, Bytes bytes, std::byte* kept) {
  Hops hops;
  {
    const std::lock_guard lock(mutex_);
    chains_.push_back({copy, bytes, kept});
    begin_pieces(hops);
  }
  carry(hops);
}

/// As many pieces as there are buffers for, of the oldest copies first. The lock is held.
void Transit::begin_pieces(Hops& to_carry) {
  if (stopped_) return;
  for (auto chain = chains_.begin(); chain != chains_.end(); ++chain) {
    while (chain->begun < chain->bytes && chain->under_way < settings_.pieces && chain->error_number == 0) {
      if (chain->kept == nullptr && free_.empty()) break;
      Piece& piece = pieces_.emplace_back();
      piece.owner = this;
      piece.chain = chain;
      piece.hop = {.wire = 0,
                   .first = chain->begun,
                   .bytes = std::min(settings_.piece_bytes, chain->bytes - chain->begun),
                   .copy = chain->copy,
                   .token = &piece};
      if (chain->kept != nullptr) {
        piece.hop.buffer = chain->kept + chain->begun;
      } else {
        piece.hop.buffer = free_.back();
        free_.pop_back();
      }
      chain->begun += piece.hop.bytes;
      ++chain->under_way;
      to_carry.push_back(piece.hop);
    }
  }
}

void Transit::carry(Hops& hops) {
  for (const Hop& hop : hops) carry_(hop);
}

void Transit::hop_done(void* token, int error_number) {
  Piece& piece = *static_cast<Piece*>(token);
  piece.owner->over_a_wire(piece, error_number);
}

void Transit::over_a_wire(Piece& piece, int error_number) {
  Hops hops;
  void* over = nullptr;
  int error_of_copy = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    Chain& chain = *piece.chain;
    if (error_number != 0 && chain.error_number == 0) chain.error_number = error_number;
    if (piece.hop.wire == 0 && chain.error_number == 0) {
      piece.hop.wire = 1;
      hops.push_back(piece.hop);
    } else {
      if (chain.kept == nullptr) free_.push_back(piece.hop.buffer);
      chain.over += piece.hop.bytes;
      --chain.under_way;
      // After an error no more pieces begin.
      if (chain.under_way == 0 && (chain.over == chain.bytes || chain.error_number != 0)) {
        over = chain.copy;
        error_of_copy = chain.error_number;
        chains_.erase(piece.chain);
      }
      pieces_.remove_if([&](const Piece& other) { return &other == &piece; });
      begin_pieces(hops);
    }
  }
  carry(hops);
  if (over != nullptr) on_done_(over, error_of_copy);
}

void Transit::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

}  // namespace fairlead::backend
