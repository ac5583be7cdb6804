// Bodies that are interpreted, without a compiler: calls of functions on tiles, declarations of numbers, if, return,
// and assignments to the target of a pointer global (INFO). Any other body is C.
#pragma once
#include <fairlead/detail/tile_function.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"
#include "front/jdf/diagnostics.hpp"

namespace fairlead::jdf {

using TileTable = std::span<const fairlead::detail::TileFunction>;

enum class TilePrecision : std::uint8_t { any, single, double_ };

/// A call of a tile function: tile_dtrsm('L', 'L', 'N', 'U', ...).
struct BodyCall {
  const fairlead::detail::TileFunction* function = nullptr;
  TilePrecision precision = TilePrecision::any;  ///< from the name of the function
  SourceRange where;
  struct Argument {
    ExpressionId value = no_expression;  ///< for a number
    std::uint32_t flow = unbound_index;  ///< for a tile
  };
  std::vector<Argument> arguments;
};

using StatementId = std::uint32_t;

struct Statement {
  enum class Kind : std::uint8_t {
    assign,          // assigns `value`, or the result of `call`, to `slot`
    assign_pointer,  // assigns `value` to the target of the global `pointer`
    call,            // the result is not used
    branch,          // if: `value` ? first : second
    leave,           // return
  };
  Kind kind = Kind::leave;
  bool real = false;  ///< the slot is a double; otherwise an int
  std::uint32_t slot = unbound_index;
  std::uint32_t pointer = unbound_index;
  ExpressionId value = no_expression;
  std::uint32_t call = unbound_index;          ///< index into InterpretedBody::calls
  std::vector<StatementId> first{}, second{};  ///< in order
};

/// An interpreted body.
struct InterpretedBody {
  std::vector<Statement> statements;
  std::vector<StatementId> top_level;
  std::vector<BodyCall> calls;
  std::uint32_t slots = 0;  ///< the slots of the class, and the body's own
  struct Pointer {
    std::uint32_t slot, global;
  };
  std::vector<Pointer> pointers;  ///< slots for the targets of pointer globals
  bool is_c = false;              ///< cannot be interpreted: it is C, or there is no body for cores
  /// The properties `flops` and `time_estimate` (nanoseconds), if given.
  ExpressionId flops = no_expression, nanoseconds = no_expression;
  /// The name under which durations are recorded: the kernel's if the body calls only one, otherwise the class's.
  std::string name;
};

/// Whether the body is for cores: it has no type, or the type CPU in upper or lower case.
bool runs_on_cores(const Body& body, const JdfFile& file);

/// Reads the first body for cores of each class. A body that needs C is an error that names the offending code. Binds
/// names, so call it before creating Settings.
std::vector<InterpretedBody> parse_bodies(JdfFile& file, TileTable table, Diagnostics& diagnostics);

}  // namespace fairlead::jdf
