// Checkpoints of a factorization: what identifies it, and what a resumed run takes from its checkpoint instead of choosing
// again. Other settings may differ: the number of workers, devices, the policy, the memory.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "front/checkpoint/checkpoint_index.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

class FactorizationCheckpoint {
 public:
  /// Reads the index of the checkpoint in the directory of the setting `checkpoint`, if there is one. Throws InputError if
  /// it is damaged.
  explicit FactorizationCheckpoint(const Config& config);

  /// Whether the setting is set.
  bool is_wanted() const noexcept { return is_wanted_; }
  /// The options with the method and the precision of the checkpoint, as far as these options leave a choice.
  SolveOptions adopted(SolveOptions options, ElementType solution) const;
  /// The tile of the checkpoint of that factorization; none: there is no such checkpoint.
  std::optional<std::int32_t> tile(const DenseOperation& method, ElementType element) const;
  /// TiledFactors::task_order() of the checkpoint of that factorization; empty: there is no such checkpoint.
  std::string task_order(const DenseProblem& problem) const;

 private:
  bool is_wanted_;
  std::optional<front::CheckpointIndex> found_;
};

/// Size and time of the last change of a file.
std::string text_of(const data::FileVersion& version);

/// `a`: the matrix that is factored. `digest`: of some of its elements.
front::CheckpointIdentity identity_of(const DenseProblem& problem, const LinearSystem& system,
                                      const std::string& task_order, std::uint64_t digest);

/// A digest of a few tiles, which the program reads. The flow must not have unfinished tasks.
template <class T>
std::uint64_t digest_of_some_tiles(Flow& flow, const TiledMatrix<T>& a, Tiles which);

}  // namespace fairlead::solver
