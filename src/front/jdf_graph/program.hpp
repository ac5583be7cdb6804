// A JDF file that is going to run: what it says, what its globals are, what its bodies do.
#pragma once
#include <fairlead/ptg/part.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/jdf/body.hpp"
#include "front/jdf/constants.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/tree.hpp"
#include "front/jdf/types.hpp"

namespace fairlead::jdf {

struct Program {
  /// `diagnostics`: what is wrong with the bodies.
  Program(File&& from, TileTable table, Diagnostics& diagnostics);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  File file;
  std::vector<ReadBody> bodies;  ///< by class
  Settings settings;
  /// What globals of the type "int *" point to, by global. Any thread's.
  mutable std::vector<std::atomic<std::int32_t>> pointed;
  /// What types of dependencies are; of others whole tiles go to tasks.
  Types types = usual_types();
  /// By class and slot: a body needs it, or what it needs follows from it.
  std::vector<std::vector<bool>> needed;
};

/// "[type = LOWER_TILE]" of a dependency on a task, or (in_data) on data. Nothing if none is said, or nobody knows it.
std::optional<ptg::Part> part_of(const Program& program, const Dependency& dependency, bool in_data);

/// Marks the slots that the value of an expression depends on.
void mark_slots(const File& file, ExpressionId id, std::vector<bool>& slots);

/// Of what bodies need, when its settings are complete.
Constants constants_of(const Program& program);

/// Throws EvaluationError if a body needs something that nobody has set.
void require_values(const Program& program);

/// Whether a global is the one by which LAPACK's routines tell that numbers do not allow a factorization.
bool tells_failure(const Global& global) noexcept;

}  // namespace fairlead::jdf
