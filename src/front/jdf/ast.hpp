// The syntax tree of a JDF file. Expressions are in one array and refer to each other by index; their nesting depth is
// limited by the parser. name_resolution.hpp binds the names.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "front/jdf/source_file.hpp"
#include "front/unrolled/flow_access.hpp"

namespace fairlead::jdf {

using unrolled::FlowAccess;
using ExpressionId = std::uint32_t;
inline constexpr ExpressionId no_expression = UINT32_MAX;
inline constexpr std::uint32_t unbound_index = UINT32_MAX;  ///< an index that is not bound

struct Name {
  std::string text;
  SourceRange where;
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
  // from here on: unary operators
  negate,
  plus,
  logical_not,
  bit_not,
};

/// What a name in an expression refers to.
enum class Binding : std::uint8_t {
  unbound,  // not looked up yet, or not found
  global,   // File::globals[index]
  member,   // File::members[index], "descA->mt"
  local,    // slot `index` of the task class: a parameter, a derived local or a local index
  c,        // a name of the surrounding C code, such as a macro or an enumerator: File::c_names[index]
};

/// A local index of a parameter, a local or a dependency: [ i = 0 .. n ].
struct Index {
  Name name;
  ExpressionId range = no_expression;  ///< an expression of kind `range`, or a single value
  std::uint32_t slot = unbound_index;
};

struct Expression {
  enum class Kind : std::uint8_t {
    integer,  // `integer`, with the type that C gives it
    real,
    text,      // a string; `evaluated` is its content as an expression, if it is one
    name,      // `text` is the whole name, as in "descA->super.mt"; `base` its first part
    unary,     // parts[0]
    binary,    // parts[0], parts[1]
    ternary,   // parts[0] ? parts[1] : parts[2]
    range,     // parts[0] .. parts[1] .. parts[2]; the step is optional
    call,      // `text`(arguments): a C function, or an element of a collection
    inline_c,  // `text` is the C code; `evaluated` is the returned value, if it is an expression
  };
  Kind kind = Kind::integer;
  Operator op = Operator::add;
  Binding meaning = Binding::unbound;
  bool is_unsigned = false;  ///< for integers
  bool is_long = false;
  std::uint16_t depth = 1;              ///< of the subtree
  std::uint32_t index = unbound_index;  ///< depends on `meaning`
  SourceRange where;
  SourceRange operator_range;  ///< the operator, for errors at that position
  std::array<ExpressionId, 3> parts{no_expression, no_expression, no_expression};
  std::vector<ExpressionId> arguments;
  std::uint64_t integer = 0;
  double real = 0;
  std::string text, base;
  ExpressionId parsed_content = no_expression;
  /// For inline C: its declarations, in order, each with its value as `range`.
  std::vector<Index> variables;
  /// For expressions that need C: the slots that they mention (c_expressions.hpp).
  std::vector<std::uint32_t> c_slots;
};

/// Whether the expression is a single C name. As a cost it is a function of the epilogue (DPLASMA: `time_estimate =
/// zgemm_time_estimate`), which has no value.
inline bool is_name_of_c(const Expression& it) {
  return it.kind == Expression::Kind::name && it.meaning == Binding::c;
}

/// An expression that only C code can evaluate, as a function of locals.
struct CExpression {
  ExpressionId id = no_expression;
  /// The locals that it mentions: names and slots.
  std::vector<std::pair<std::string, std::uint32_t>> locals;
  std::vector<std::uint32_t> globals;  ///< the globals that it mentions
  bool real = false;                   ///< part of the value of a real global
};

struct Property {
  Name name;
  ExpressionId value = no_expression;  ///< no_expression for a bare word, as in [ATYPE] of 2011
};

/// A line `name = ...` of a task class: the range of a parameter, or a derived local.
struct Definition {
  Name name;
  std::vector<Index> indices;
  ExpressionId value = no_expression;  ///< a range or a single value
  std::vector<Property> properties;
  std::uint32_t slot = unbound_index;
  std::uint32_t parameter = unbound_index;  ///< the index among the class's parameters, if it is one
};

/// The other end of a dependency.
struct Target {
  enum class Kind : std::uint8_t { task, memory, fresh /* NEW */, null /* NULL */ };
  Kind kind = Kind::null;
  SourceRange where;
  std::vector<Index> indices;
  Name flow;                            ///< for a task
  Name owner;                           ///< the class or the collection
  std::vector<ExpressionId> arguments;  ///< values or, for tasks, ranges
  std::uint32_t index = unbound_index;  ///< the class, or the global that is the collection
  std::uint32_t flow_index = unbound_index;
};

/// `guard ? target`; the last of several branches may have no guard.
struct Branch {
  ExpressionId guard = no_expression;
  Target target;
};

enum class Direction : std::uint8_t { in, out };

struct Dependency {
  Direction direction = Direction::in;
  SourceRange where;
  std::vector<Index> indices;
  std::vector<Branch> branches;  ///< the first branch with a true guard is taken
  std::vector<Property> properties;
};

struct Flow {
  FlowAccess access = FlowAccess::read_write;
  bool keyword = true;  ///< whether the file has an access keyword
  bool broken = false;  ///< part of it could not be parsed: a missing dependency is no error
  Name name;
  std::vector<Dependency> dependencies;
};

struct Body {
  SourceRange where;
  SourceRange code;
  std::vector<Property> properties;
};

/// Where a task runs: at a datum, where a predicate over ranks holds (2011), or anywhere.
struct Placement {
  enum class Kind : std::uint8_t { none, at_datum, predicate };
  Kind kind = Kind::none;
  Target datum;
  ExpressionId predicate = no_expression;
};

struct TaskClass {
  Name name;
  std::vector<Name> parameters;
  std::vector<Property> properties;
  std::vector<Definition> definitions;  ///< in evaluation order
  ExpressionId simulation_cost = no_expression;
  Placement placement;
  std::vector<Flow> flows;
  ExpressionId priority = no_expression;
  std::vector<Body> bodies;
  std::uint32_t slots = 0;  ///< the number of slots of a task: parameters, locals and local indices
};

struct Global {
  Name name;
  std::vector<Property> properties;
  ExpressionId value = no_expression;  ///< from `NAME = value`, or from the property `default`
  bool hidden = false;
  bool implicit = false;                     ///< a collection that is used but not declared
  bool is_collection = false;                ///< a task is placed there, or reads or writes there
  std::uint32_t dimensions = unbound_index;  ///< the number of indices of its elements
  std::string type;                          ///< as written, without quotation marks; empty if there is none
};

/// A member of a global, such as "descA->super.mt".
struct Member {
  std::string text;
  std::uint32_t global = unbound_index;
  std::string last;  ///< "mt"
};

/// Index from names to the number of their first entry; a hash table, since a file may have very many names.
class NameIndex {
 public:
  void add(const std::string& name, std::uint32_t number) { numbers_.try_emplace(name, number); }
  std::uint32_t find(std::string_view name) const {
    const auto found = numbers_.find(std::string(name));
    return found == numbers_.end() ? unbound_index : found->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

struct JdfFile {
  explicit JdfFile(SourceFile from) : source(std::move(from)) {}

  SourceFile source;
  std::vector<SourceRange> external;  ///< the C code of extern "C" %{ %}, in order
  std::vector<Property> options;
  std::vector<Global> globals;  ///< in the order of the generated function's arguments: implicit ones first
  std::vector<TaskClass> classes;
  std::vector<Expression> expressions;
  std::vector<Member> members;
  std::vector<std::string> c_names;  ///< names that inline C uses and the file does not define
  /// For classes, globals, members and C names.
  NameIndex global_numbers, class_numbers, member_numbers, c_numbers;
  std::uint32_t global_slots = 0;     ///< slots for variables that inline C declares in the values of globals
  std::vector<CExpression> c_leaves;  ///< see c_expressions.hpp

  const Expression& at(ExpressionId id) const { return expressions[id]; }
};

/// The global that provides data and members: for a hidden global the one named by its property `aligned`, otherwise
/// itself.
std::uint32_t aligned_with(const JdfFile& file, std::uint32_t global);

/// The property of that name, or nullptr.
const Property* find(const std::vector<Property>& properties, std::string_view name);
/// The value of a property as a word: a name, or the text between quotation marks; empty for any other expression.
std::string word_of(const Property& property, const JdfFile& file);

}  // namespace fairlead::jdf
