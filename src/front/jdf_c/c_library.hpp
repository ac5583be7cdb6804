// The compiled and loaded C code of a file: bodies, and expressions that the evaluator cannot compute. It runs in this
// process: if it crashes, so does the process.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/jdf/emit_dynamic_c.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf_c/c_compiler.hpp"

namespace fairlead::jdf {

class CLibrary final : public CEvaluator {
 public:
  /// `with_bodies`: by class. `file` must outlive it. Throws as CCompiler::build(); null after CCompiler::stop().
  static std::shared_ptr<CLibrary> build(const JdfFile& file, const std::vector<bool>& with_bodies,
                                         const std::vector<std::string>& libraries, CCompiler& compiler);

  /// Sets the target of a global of type "int *"; without it, the target is a variable of this object.
  void set_pointer(std::uint32_t global, void* address) { addresses_[global] = address; }
  /// Passes the values of all globals to the C code. `settings` must use this object already, and outlive it.
  void set_globals(const Settings& settings);

  void require(ExpressionId id) const override;
  Value value(ExpressionId id, std::span<const Value> slots) const override;

  bool has_body(std::uint32_t task_class) const { return bodies_[task_class] != nullptr; }
  /// Throws EvaluationError if a body mentions a global without a value.
  void require_bodies() const;
  bool is_int_pointer(std::uint32_t global) const { return kind_of(global) == GlobalKind::int_pointer; }
  /// The target of an "int *" global for a single task.
  struct PrivateInt {
    std::uint32_t global = 0;
    std::int32_t before = 0, value = 0;
  };
  /// Runs the bodies of a task, `tiles` by flow. Throws UsageError unless the last one reports completion.
  void run(std::uint32_t task_class, const std::int64_t* parameters, void* const* tiles,
           std::span<PrivateInt> own = {}) const;

 private:
  CLibrary(const JdfFile& file, std::unique_ptr<SharedObject> object);
  void set_globals(std::uint32_t global, Evaluator& evaluator, const Settings& settings);
  void point_by_default(std::uint32_t global, Evaluator& evaluator);
  GlobalKind kind_of(std::uint32_t global) const;
  void set(std::uint32_t global, std::int64_t whole, double real, void* address);
  void set_in(std::vector<std::uint64_t>& globals, std::uint32_t global, std::int64_t whole, double real,
              void* address) const;
  void require(std::span<const std::uint32_t> globals, SourceRange where) const;
  [[noreturn]] void fail(SourceRange where, const std::string& message) const;

  struct Leaf {
    DynamicSymbols::Leaf* function = nullptr;
    const CExpression* of = nullptr;
  };
  struct Descriptor;

  const JdfFile& file_;
  std::unique_ptr<SharedObject> object_;
  DynamicSymbols::Set* set_ = nullptr;
  std::vector<Leaf> leaves_;  // by expression
  std::vector<DynamicSymbols::Body*> bodies_;
  std::vector<std::uint64_t> globals_;     // the struct of globals, as the C code lays it out
  std::vector<std::string> unset_reason_;  // by global: why it has no value; empty if it has one
  std::vector<void*> addresses_;
  std::deque<Descriptor> descriptors_;
  std::deque<std::int64_t> places_;
};

}  // namespace fairlead::jdf
