// The copies of a run: each is given to the carrier of its link, and its end is told to the engine.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/addresses.hpp"
#include "backend/carrier.hpp"
#include "backend/chain/chains.hpp"
#include "base/time.hpp"
#include "engine/reporter.hpp"
#include "machine/topology.hpp"
#include "memory/routes.hpp"

namespace fairlead::backend {

class Copies final : private Receiver {
 public:
  struct World {
    engine::Engine* engine;
    std::function<Time()> now;
    const Addresses* addresses;
    TransitBuffers transit{};
    std::function<std::string(DatumId)> name_of;
    std::function<void()> told;  ///< an end was told; called without any lock
  };
  /// `reporter`: for the threads that move bytes, which take turns.
  Copies(World world, std::unique_ptr<engine::Reporter> reporter);

  /// By which carrier a wire's loads go. Before the first copy.
  void carry(LinkId link, Carrier& carrier);
  /// All wires have their carriers: links that cross some get theirs.
  void complete();
  /// Throws an Error if nobody carries what crosses the link.
  void start(memory::Copy& copy);

  void hurry() noexcept;
  std::size_t threads() const noexcept;
  /// No copy of the program's own memory is under way any more when this returns.
  void stop_those_of_the_program() noexcept;
  /// Nor any other.
  void stop() noexcept;

 private:
  void over(void* token, const Outcome& outcome) noexcept override;
  std::exception_ptr failure_of(const memory::Copy& copy, const Outcome& outcome) const;

  const World world_;
  const Topology& topology_;
  const memory::Routes& routes_;
  std::vector<Carrier*> carriers_;  // by LinkId; null: nobody carries what crosses it
  std::vector<Carrier*> all_;       // each once, as they came
  std::optional<Chains> chains_;
  std::mutex mutex_;  // guards what follows
  const std::unique_ptr<engine::Reporter> reporter_;
};

}  // namespace fairlead::backend
