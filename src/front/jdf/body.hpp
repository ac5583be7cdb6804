// Bodies that need no compiler: calls of functions on tiles, declarations of numbers, if, return, and assignments to what
// a global points to (INFO). Anything else is C.
#pragma once
#include <fairlead/detail/tile_function.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

using TileTable = std::span<const fairlead::detail::TileFunction>;

enum class Precision : std::uint8_t { any, single, double_ };

/// tile_dtrsm('L', 'L', 'N', 'U', ...).
struct BodyCall {
  const fairlead::detail::TileFunction* function = nullptr;
  Precision precision = Precision::any;  ///< as the name says
  Range where;
  struct Argument {
    ExpressionId value = no_expression;  ///< of a number
    std::uint32_t flow = nowhere;        ///< of a tile
  };
  std::vector<Argument> arguments;
};

using StatementId = std::uint32_t;

struct Statement {
  enum class Kind : std::uint8_t {
    set,     // `slot` becomes `value`, or what `call` returns
    point,   // what global `pointer` points to becomes `value`
    call,    // nobody looks at what it returns
    choice,  // value ? first : second
    leave,   // the body is over
  };
  Kind kind = Kind::leave;
  bool real = false;  ///< the slot is a double; else an int
  std::uint32_t slot = nowhere;
  std::uint32_t pointer = nowhere;
  ExpressionId value = no_expression;
  std::uint32_t call = nowhere;                ///< in Body::calls
  std::vector<StatementId> first{}, second{};  ///< in order
};

/// What a body does.
struct ReadBody {
  std::vector<Statement> statements;
  std::vector<StatementId> all;
  std::vector<BodyCall> calls;
  std::uint32_t slots = 0;  ///< those of the class, and its own
  struct Pointer {
    std::uint32_t slot, global;
  };
  std::vector<Pointer> pointers;  ///< slots for what globals point to
  std::string name;  ///< by which durations are remembered: the kernel's if it calls one, else the class's
};

/// Reads the bodies of all classes, one for each: the first that runs on cores. A body that is C is an error that names
/// what is. Binds names, so it comes before Settings are made.
std::vector<ReadBody> read_bodies(File& file, TileTable table, Diagnostics& diagnostics);

}  // namespace fairlead::jdf
