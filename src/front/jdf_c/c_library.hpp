// A file's own C, built and loaded: what the evaluator cannot say by itself, and bodies. It is somebody's program, and runs in
// this process: if it crashes, so does this.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "front/jdf/emit_shared.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf_c/c_compiler.hpp"

namespace fairlead::jdf {

class CLibrary final : public InC {
 public:
  /// `with_bodies`: by class. `file` outlives it. Throws as CCompiler::build(); null if that was stopped.
  static std::shared_ptr<CLibrary> build(const File& file, const std::vector<bool>& with_bodies,
                                         const std::vector<std::string>& libraries, CCompiler& compiler);

  /// Where a global of the type "int *" points to; to a place of its own if nobody says.
  void point(std::uint32_t global, void* address) { addresses_[global] = address; }
  /// Tells the C what globals are; `settings` use it already, and stay.
  void know(const Settings& settings);

  void require(ExpressionId id) const override;
  Value value(ExpressionId id, std::span<const Value> slots) const override;

  bool has_body(std::uint32_t task_class) const { return bodies_[task_class] != nullptr; }
  /// Throws EvaluationError if a body mentions a global that nobody has set.
  void require_bodies() const;
  bool is_int_pointer(std::uint32_t global) const { return kind_of(global) == SharedKind::int_pointer; }
  /// What such a global points to for one task alone.
  struct OwnNumber {
    std::uint32_t global = 0;
    std::int32_t before = 0, value = 0;
  };
  /// Runs the bodies of a task, `tiles` by flow; throws UsageError unless the last has done its work.
  void run(std::uint32_t task_class, const std::int64_t* parameters, void* const* tiles,
           std::span<OwnNumber> own = {}) const;

 private:
  CLibrary(const File& file, std::unique_ptr<SharedObject> object);
  void know(std::uint32_t global, Evaluator& evaluator, const Settings& settings);
  void point_by_default(std::uint32_t global, Evaluator& evaluator);
  SharedKind kind_of(std::uint32_t global) const;
  void set(std::uint32_t global, std::int64_t whole, double real, void* address);
  void set_in(std::vector<std::uint64_t>& globals, std::uint32_t global, std::int64_t whole, double real,
              void* address) const;
  void require(std::span<const std::uint32_t> globals, Range where) const;
  [[noreturn]] void fail(Range where, const std::string& message) const;

  struct Leaf {
    SharedNames::Leaf* function = nullptr;
    const CLeaf* of = nullptr;
  };
  struct Descriptor;

  const File& file_;
  std::unique_ptr<SharedObject> object_;
  SharedNames::Set* set_ = nullptr;
  std::vector<Leaf> leaves_;  // by expression
  std::vector<SharedNames::Body*> bodies_;
  std::vector<std::uint64_t> globals_;  // as the C has them
  std::vector<std::string> missing_;    // by global: why it has no value; empty: it has one
  std::vector<void*> addresses_;
  std::deque<Descriptor> descriptors_;
  std::deque<std::int64_t> places_;
};

}  // namespace fairlead::jdf
