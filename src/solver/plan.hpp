// Plans a solve: runs its steps in virtual time, and reads memory, bytes and time from that run.
//
// The simulated run executes the code of a real one: SolveSteps, the algorithms, the engine, memory management and the
// scheduling policy. Only the bodies of tasks are missing. So a plan needs no formulas of its own for the bytes that a
// method moves, and follows changes of the methods.
//
// A matrix of very many tiles is simulated with larger ones. Bytes depend on the shares of the matrix that memory holds
// and hardly on the tile, as long as memory holds enough tiles.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/solver.hpp>

#include <optional>
#include <string>

#include "base/json.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// `system.b`: only its shape and element type count. `options` as of choose_method(). `config`: its memory, tile,
/// workers; its devices are not used. Throws FootprintError if the memory limit is too small, ConfigError if the number
/// of tiles is.
linalg::SolvePlan plan_solve(const LinearSystem& system, const SolveOptions& options, const Config& config,
                             const linalg::Kernels& kernels);

/// A sentence for a solve on cores that will take more than a minute; nothing for a shorter one, or if its time cannot be
/// predicted. `core_gflops`: of one core in double precision, to recognize short runs at once; longer ones are simulated.
std::optional<std::string> notice_of_long_run(const LinearSystem& system, const SolveOptions& options,
                                              const Config& config, const linalg::Kernels& kernels,
                                              double core_gflops);

/// For people: a table of few lines.
std::string text_of(const linalg::SolvePlan& plan);
Json json_of(const linalg::SolvePlan& plan);
/// "about 3 min 20 s (2 min 10 s to 5 min 00 s)".
std::string time_text(const linalg::SolvePlan& plan);

}  // namespace fairlead::solver
