// What a JDF file says, as a tree. Expressions are in one array and name each other by number: a text may nest them as
// deeply as the reader allows, and nothing recursive takes them apart. Names are bound to what they mean by names.hpp.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "front/jdf/source.hpp"

namespace fairlead::jdf {

using ExpressionId = std::uint32_t;
inline constexpr ExpressionId no_expression = UINT32_MAX;
inline constexpr std::uint32_t nowhere = UINT32_MAX;  ///< of indices: bound to nothing

struct Name {
  std::string text;
  Range where;
};

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  modulo,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  negate,
  plus,
  logical_not,
  bit_not,  // of one operand
};

/// What a name in an expression means.
enum class Meaning : std::uint8_t {
  unbound,  // not looked up yet, or not found
  global,   // File::globals[index]
  member,   // File::members[index], "descA->mt"
  local,    // the slot `index` of the task class: a parameter, a derived local or a local index
  c,        // of the C around it: a macro, an enumerator: File::c_names[index]
};

/// A parameter's, local's or dependency's `name = range` in brackets: [ i = 0 .. n ].
struct Index {
  Name name;
  ExpressionId range = no_expression;  ///< of kind `range`, or a single value
  std::uint32_t slot = nowhere;
};

struct Expression {
  enum class Kind : std::uint8_t {
    integer,  // `integer`, of the type that C gives it
    real,
    text,      // a string; `evaluated` is what it says as an expression, if it is one
    name,      // `text` is all of it, as in "descA->super.mt"; `base` its first name
    unary,     // parts[0]
    binary,    // parts[0], parts[1]
    ternary,   // parts[0] ? parts[1] : parts[2]
    range,     // parts[0] .. parts[1] .. parts[2]; the step may be missing
    call,      // `text`(arguments): of a function in C, or a place of a collection
    inline_c,  // `text` is the C; `evaluated` is what it returns, if that is an expression
  };
  Kind kind = Kind::integer;
  Operator op = Operator::add;
  Meaning meaning = Meaning::unbound;
  bool is_unsigned = false;  ///< of integers
  bool is_long = false;
  std::uint16_t depth = 1;        ///< of the tree below it
  std::uint32_t index = nowhere;  ///< by `meaning`
  Range where;
  Range mark;  ///< the operator, for what goes wrong there
  std::array<ExpressionId, 3> parts{no_expression, no_expression, no_expression};
  std::vector<ExpressionId> arguments;
  std::uint64_t integer = 0;
  double real = 0;
  std::string text, base;
  ExpressionId evaluated = no_expression;
  std::vector<Index> variables;  ///< of inline C: what it declares, in order, each with its value as `range`
  std::vector<std::uint32_t>
      c_slots;  ///< of what only C can say: the slots that it mentions, see c_leaves.hpp
};

/// An expression that only C can say, as a function of locals.
struct CLeaf {
  ExpressionId id = no_expression;
  std::vector<std::pair<std::string, std::uint32_t>> locals;  ///< that it mentions: names and slots
  std::vector<std::uint32_t> globals;                         ///< that it mentions
  bool real = false;                                          ///< it stands in the value of a real global
};

struct Property {
  Name name;
  ExpressionId value = no_expression;  ///< none for a bare word, as in [ATYPE] of 2011
};

/// A line `name = ...` of a task class: the space of a parameter, or a local that is derived.
struct Definition {
  Name name;
  std::vector<Index> indices;
  ExpressionId value = no_expression;  ///< a range or a value
  std::vector<Property> properties;
  std::uint32_t slot = nowhere;
  std::uint32_t parameter = nowhere;  ///< which of the class's, if it is one
};

/// What a dependency leads to.
struct Target {
  enum class Kind : std::uint8_t { task, memory, fresh /* NEW */, null /* NULL */ };
  Kind kind = Kind::null;
  Range where;
  std::vector<Index> indices;
  Name flow;                            ///< of a task
  Name of;                              ///< the class or the collection
  std::vector<ExpressionId> arguments;  ///< values or, for tasks, ranges
  std::uint32_t index = nowhere;        ///< the class, or the global that is the collection
  std::uint32_t flow_index = nowhere;
};

/// `guard ? target`; the last of several may have no guard.
struct Branch {
  ExpressionId guard = no_expression;
  Target target;
};

enum class Direction : std::uint8_t { in, out };

struct Dependency {
  Direction direction = Direction::in;
  Range where;
  std::vector<Index> indices;
  std::vector<Branch> branches;  ///< the first whose guard holds counts
  std::vector<Property> properties;
};

enum class Access : std::uint8_t { read, write, read_write, control };

struct Flow {
  Access access = Access::read_write;
  bool keyword = true;  ///< whether it said so
  bool broken = false;  ///< some of it could not be read: what is missing says nothing
  Name name;
  std::vector<Dependency> dependencies;
};

struct Body {
  Range where;
  Range code;
  std::vector<Property> properties;
};

/// Where a task runs: beside a datum, where a predicate over ranks holds (2011), or anywhere.
struct Placement {
  enum class Kind : std::uint8_t { none, datum, predicate };
  Kind kind = Kind::none;
  Target datum;
  ExpressionId predicate = no_expression;
};

struct TaskClass {
  Name name;
  std::vector<Name> parameters;
  std::vector<Property> properties;
  std::vector<Definition> definitions;  ///< in the order in which they are evaluated
  ExpressionId simulation_cost = no_expression;
  Placement placement;
  std::vector<Flow> flows;
  ExpressionId priority = no_expression;
  std::vector<Body> bodies;
  std::uint32_t slots = 0;  ///< that a task needs for parameters, locals and local indices
};

struct Global {
  Name name;
  std::vector<Property> properties;
  ExpressionId value = no_expression;  ///< of `NAME = value`, or of the property `default`
  bool hidden = false;
  bool implicit = false;               ///< a collection that is used and not declared
  bool is_collection = false;          ///< something is placed or read there
  std::uint32_t dimensions = nowhere;  ///< how many indices its places have
  std::string type;                    ///< as written, without quotation marks; empty: not said
};

/// "descA->super.mt", wherever it is said.
struct Member {
  std::string text;
  std::uint32_t global = nowhere;
  std::string last;  ///< "mt"
};

/// The number of the first of each name: texts may have very many.
class NameIndex {
 public:
  void add(const std::string& name, std::uint32_t number) { numbers_.try_emplace(name, number); }
  std::uint32_t find(std::string_view name) const {
    const auto found = numbers_.find(std::string(name));
    return found == numbers_.end() ? nowhere : found->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

struct File {
  explicit File(Source from) : source(std::move(from)) {}

  Source source;
  std::vector<Range> external;  ///< the C of extern "C" %{ %}, in order
  std::vector<Property> options;
  std::vector<Global> globals;  ///< in the order of the function's arguments: implicit ones first
  std::vector<TaskClass> classes;
  std::vector<Expression> expressions;
  std::vector<Member> members;
  std::vector<std::string> c_names;  ///< that inline C uses and JDF does not know
  NameIndex global_numbers, class_numbers, member_numbers, c_numbers;  ///< of the four above
  std::uint32_t global_slots = 0;  ///< for what inline C declares in the values of globals
  std::vector<CLeaf> c_leaves;     ///< see c_leaves.hpp

  const Expression& at(ExpressionId id) const { return expressions[id]; }
};

/// The global whose data the places of this one are, and whose members it has: that which it is `aligned` with, if nobody gives this
/// one; else itself.
std::uint32_t aligned_with(const File& file, std::uint32_t global);

/// The property of that name, or nullptr.
const Property* find(const std::vector<Property>& properties, std::string_view name);
/// What a property says as a word: a name or what is between quotation marks; empty if it is another expression.
std::string word_of(const Property& property, const File& file);

}  // namespace fairlead::jdf
