// A JDF file that is ready to run: its syntax tree, its globals' values, and its bodies.
#pragma once
#include <fairlead/ptg/part.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"
#include "front/jdf/body.hpp"
#include "front/jdf/constants.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/types.hpp"

namespace fairlead::jdf {

struct RunnableJdf {
  /// `diagnostics`: receives errors in the bodies.
  RunnableJdf(JdfFile&& from, TileTable table, Diagnostics& diagnostics);
  RunnableJdf(const RunnableJdf&) = delete;
  RunnableJdf& operator=(const RunnableJdf&) = delete;

  JdfFile file;
  std::vector<InterpretedBody> bodies;  ///< by class
  Settings settings;
  /// The targets of "int *" globals, by global. Any thread may access them.
  mutable std::vector<std::atomic<std::int32_t>> pointed;
  /// The parts that the file's types mean. Tasks get whole tiles for any other type.
  Types types = predefined_types();
  /// By class and slot: a body uses it, or a value derived from it.
  std::vector<std::vector<bool>> needed;
};

/// The part for the type of a dependency on a task, or (in_data) on data. Nothing without a type, or if the type is
/// undefined.
std::optional<ptg::Part> part_of(const RunnableJdf& program, const Dependency& dependency, bool in_data);

/// Marks the slots on which an expression depends.
void mark_slots(const JdfFile& file, ExpressionId id, std::vector<bool>& slots);

/// The constants among the expressions of bodies. Requires complete settings.
Constants constants_of(const RunnableJdf& program);

/// Throws EvaluationError if a body uses a global without a value.
void require_values(const RunnableJdf& program);

/// Whether a global is LAPACK's INFO, which reports that a factorization failed.
bool is_info_global(const Global& global) noexcept;

}  // namespace fairlead::jdf
