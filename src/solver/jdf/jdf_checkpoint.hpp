// Checkpoints of a JDF graph: what identifies it, and its state apart from data.
#pragma once
#include <fairlead/checkpointed_state.hpp>
#include <fairlead/config.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/checkpoint/checkpoint_index.hpp"
#include "front/jdf_graph/runnable_jdf.hpp"
#include "solver/jdf/jdf_steps.hpp"

namespace fairlead::solver {

/// `settings`: the values of globals and types, as given. `tile`: of matrices for which none was given.
front::CheckpointIdentity identity_of(const jdf::RunnableJdf& program, std::span<const JdfMatrix> matrices,
                                      const std::vector<std::string>& settings, std::int32_t tile);

/// That tile in the checkpoint in the directory of the setting `checkpoint`; none: there is no checkpoint of a graph. Throws
/// InputError if it is damaged.
std::optional<std::int32_t> tile_in_checkpoint(const Config& config);

/// The values that globals of the program point to.
CheckpointedState state_of(const std::shared_ptr<const jdf::RunnableJdf>& program);

}  // namespace fairlead::solver
