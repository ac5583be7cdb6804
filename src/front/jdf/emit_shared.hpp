// A file's C for a program that has read the file itself, and has it built and loaded while it runs: functions whose types do
// not depend on the file. EmitBodies::shared() writes them; tile bodies and inline C are those of `fairlead jdf compile`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// What the type of a global takes.
enum class SharedKind : int { number, descriptor, collection, int_pointer, memory_pool, other_pointer };

/// The names of the functions, and what they are in C++.
struct SharedNames {
  static constexpr const char* size = "fairlead_jdf_size";
  using Size = std::size_t();  ///< bytes of the globals
  static constexpr const char* kind = "fairlead_jdf_kind";
  using Kind = int(int global);  ///< a SharedKind
  static constexpr const char* set = "fairlead_jdf_set";
  using Set = void(void* globals, int global, std::int64_t whole, double real, void* address);
  static std::string leaf(ExpressionId id) { return "fairlead_jdf_leaf" + std::to_string(id); }
  /// Sets *real, and returns 1, or *whole.
  using Leaf = int(const void* globals, const std::int64_t* indices, std::int64_t* whole, double* real);
  static std::string body(std::size_t task_class) { return "fairlead_jdf_body" + std::to_string(task_class); }
  /// `tiles`: by flow. What the last body that was tried has returned.
  using Body = int(const void* globals, const std::int64_t* parameters, void* const* tiles);
};

/// The C. `with_bodies`: by class; its bodies go in, and if any does, what the file has of C behind its prologue.
std::string emit_shared(const File& file, const std::string& own_name, const std::vector<bool>& with_bodies);

}  // namespace fairlead::jdf
