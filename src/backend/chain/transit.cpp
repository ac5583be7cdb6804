// Which piece goes next, and what follows when it is over a wire; see transit.hpp.
#include "backend/chain/transit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace fairlead::backend {

Transit::Transit(Settings settings, std::function<void(const Hop&)> carry,
                 std::function<void(const Load&, const Outcome&)> on_done)
    : settings_(settings), carry_(std::move(carry)), on_done_(std::move(on_done)) {
  for (unsigned i = 0; i < settings_.pieces; ++i)
    free_.push_back(settings_.memory + i * settings_.piece_bytes);
}

void Transit::start(const Load& load, std::byte* kept) {
  Hops hops;
  {
    const std::lock_guard lock(mutex_);
    chains_.push_back({load, kept});
    begin_pieces(hops);
  }
  carry(hops);
}

/// As many pieces as there are buffers for, of the oldest copies first. The lock is held.
void Transit::begin_pieces(Hops& to_carry) {
  if (stopped_) return;
  for (auto chain = chains_.begin(); chain != chains_.end(); ++chain) {
    while (chain->begun < chain->load.bytes && chain->under_way < settings_.pieces && chain->outcome.good()) {
      if (chain->kept == nullptr && free_.empty()) break;
      Piece& piece = pieces_.emplace_back();
      piece.owner = this;
      piece.chain = chain;
      piece.hop = {.wire = 0,
                   .first = chain->begun,
                   .bytes = std::min(settings_.piece_bytes, chain->load.bytes - chain->begun),
                   .load = &chain->load,
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

void Transit::hop_done(void* token, const Outcome& outcome) {
  Piece& piece = *static_cast<Piece*>(token);
  piece.owner->over_a_wire(piece, outcome);
}

void Transit::over_a_wire(Piece& piece, const Outcome& outcome) {
  Hops hops;
  std::optional<Load> over;
  Outcome of_all;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    Chain& chain = *piece.chain;
    if (!outcome.good() && chain.outcome.good()) chain.outcome = outcome;
    if (piece.hop.wire == 0 && chain.outcome.good()) {
      piece.hop.wire = 1;
      hops.push_back(piece.hop);
    } else {
      if (chain.kept == nullptr) free_.push_back(piece.hop.buffer);
      chain.over += piece.hop.bytes;
      --chain.under_way;
      // After an error no more pieces begin.
      if (chain.under_way == 0 && (chain.over == chain.load.bytes || !chain.outcome.good())) {
        over = chain.load;
        of_all = std::move(chain.outcome);
        chains_.erase(piece.chain);
      }
      pieces_.remove_if([&](const Piece& other) { return &other == &piece; });
      begin_pieces(hops);
    }
  }
  carry(hops);
  if (over) on_done_(*over, of_all);
}

void Transit::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

}  // namespace fairlead::backend
