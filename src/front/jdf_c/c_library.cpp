// See c_library.hpp.
#include "front/jdf_c/c_library.hpp"

#include <fairlead/error.hpp>
#include <fairlead/parsec.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <utility>

#include "front/jdf/c_expressions.hpp"
#include "front/jdf/diagnostics.hpp"
#include "front/jdf/emit_bodies.hpp"

namespace fairlead::jdf {

/// The target of a global that is a matrix or a memory pool.
struct CLibrary::Descriptor {
  parsec_matrix_block_cyclic_t matrix{};
  dplasma_data_collection_t collection{};
  parsec_memory_pool_t pool{};
};

std::shared_ptr<CLibrary> CLibrary::build(const JdfFile& file, const std::vector<bool>& with_bodies,
                                          const std::vector<std::string>& libraries, CCompiler& compiler) {
  CJob job{emit_dynamic_c(file, "code.c", with_bodies), file.source.name(),
           std::filesystem::path(file.source.name()).parent_path(), libraries};
  std::unique_ptr<SharedObject> object = compiler.build(job);
  if (object == nullptr) return nullptr;
  std::shared_ptr<CLibrary> out(new CLibrary(file, std::move(object)));
  for (std::size_t i = 0; i < with_bodies.size(); ++i)
    if (with_bodies[i])
      out->bodies_[i] = std::bit_cast<DynamicSymbols::Body*>(out->object_->symbol(DynamicSymbols::body(i)));
  return out;
}

CLibrary::CLibrary(const JdfFile& file, std::unique_ptr<SharedObject> object)
    : file_(file),
      object_(std::move(object)),
      leaves_(file.expressions.size()),
      bodies_(file.classes.size()),
      unset_reason_(file.globals.size(), "it is not known yet"),
      addresses_(file.globals.size()) {
  for (const CExpression& it : file.c_leaves)
    leaves_[it.id] = {std::bit_cast<DynamicSymbols::Leaf*>(object_->symbol(DynamicSymbols::leaf(it.id))),
                      &it};
  const auto size = std::bit_cast<DynamicSymbols::Size*>(object_->symbol(DynamicSymbols::size));
  globals_.resize(size() / sizeof(std::uint64_t) + 1);
  set_ = std::bit_cast<DynamicSymbols::Set*>(object_->symbol(DynamicSymbols::set));
}

void CLibrary::set_globals(const Settings& settings) {
  const auto missing = [&] {
    return std::ranges::count_if(unset_reason_, [](const auto& it) { return !it.empty(); });
  };
  // Values may refer to globals declared later: repeat while more values become known.
  for (std::ptrdiff_t before = -1, now = missing(); now != before && now != 0;) {
    before = now;
    for (std::uint32_t i = 0; i < file_.globals.size(); ++i) {
      Evaluator evaluator(file_, settings);  // a new one, since values that failed before may be known now
      if (!unset_reason_[i].empty()) set_globals(i, evaluator, settings);
    }
    now = missing();
  }
}

GlobalKind CLibrary::kind_of(std::uint32_t global) const {
  return static_cast<GlobalKind>(
      std::bit_cast<DynamicSymbols::Kind*>(object_->symbol(DynamicSymbols::kind))(static_cast<int>(global)));
}

void CLibrary::set_in(std::vector<std::uint64_t>& globals, std::uint32_t global, std::int64_t whole,
                      double real, void* address) const {
  set_(globals.data(), static_cast<int>(global), whole, real, address);
}

void CLibrary::set(std::uint32_t global, std::int64_t whole, double real, void* address) {
  set_in(globals_, global, whole, real, address);
  unset_reason_[global].clear();
}

void CLibrary::set_globals(std::uint32_t global, Evaluator& evaluator, const Settings& settings) {
  const Global& it = file_.globals[global];
  const GlobalKind kind = kind_of(global);
  // A given matrix takes precedence; otherwise C code evaluates a pointer's value from the file.
  const bool described = (kind == GlobalKind::descriptor || kind == GlobalKind::collection) &&
                         settings.matrix(aligned_with(file_, global)).has_value() &&
                         (it.value == no_expression || aligned_with(file_, global) == global);
  const bool by_default =
      kind == GlobalKind::descriptor || kind == GlobalKind::collection || kind == GlobalKind::other_pointer;
  if (by_default && it.value != no_expression && !described) return point_by_default(global, evaluator);
  switch (kind) {
    case GlobalKind::number:
      try {
        const Value value = evaluator.global(global, it.name.where);
        const double real = value.real();
        const bool fits = std::abs(real) < 9e18;
        set(global, value.is_real() ? (fits ? static_cast<std::int64_t>(real) : 0) : value.integer(), real,
            nullptr);
      } catch (const EvaluationError& error) {
        if (error.kind() != EvaluationError::Kind::needs_c && error.kind() != EvaluationError::Kind::no_value)
          throw;
        unset_reason_[global] = fmt::format("{0} has no value: give --set {0}=...", it.name.text);
      }
      return;
    case GlobalKind::descriptor:
    case GlobalKind::collection: {
      const std::optional<MatrixShape>& shape = settings.matrix(aligned_with(file_, global));
      if (!shape) {
        unset_reason_[global] = fmt::format("{0} is used in C: give --matrix {0}=M,N,MB,NB", it.name.text);
        return;
      }
      Descriptor& descriptor = descriptors_.emplace_back();
      parsec::describe(descriptor.matrix, shape->rows, shape->columns,
                       static_cast<std::int32_t>(shape->tile_rows),
                       static_cast<std::int32_t>(shape->tile_columns), PARSEC_MATRIX_DOUBLE);
      descriptor.collection = {descriptor.matrix.super.super, &descriptor.matrix.super};
      set(global, 0, 0,
          kind == GlobalKind::collection ? static_cast<void*>(&descriptor.collection) : &descriptor.matrix);
      return;
    }
    case GlobalKind::int_pointer:
      set(global, 0, 0, addresses_[global] != nullptr ? addresses_[global] : &places_.emplace_back(0));
      return;
    case GlobalKind::memory_pool: {
      std::int64_t bytes = 0;
      for (std::uint32_t i = 0; i < file_.globals.size(); ++i)
        if (const auto& shape = settings.matrix(i))
          bytes = std::max(
              bytes, shape->tile_rows * shape->tile_columns * static_cast<std::int64_t>(sizeof(double)));
      Descriptor& descriptor = descriptors_.emplace_back();
      descriptor.pool.elt_size = static_cast<std::size_t>(bytes);
      set(global, 0, 0, &descriptor.pool);
      return;
    }
    case GlobalKind::other_pointer:
      unset_reason_[global] = fmt::format(
          "{} is a pointer, which only a program can set: compile the file (fairlead jdf compile)",
          it.name.text);
      return;
  }
}

void CLibrary::point_by_default(std::uint32_t global, Evaluator& evaluator) {
  const Global& it = file_.globals[global];
  try {
    const Value value = evaluator.global(global, it.name.where);
    set(global, 0, 0, std::bit_cast<void*>(value.integer()));
  } catch (const EvaluationError& error) {
    using Kind = EvaluationError::Kind;
    if (error.kind() != Kind::needs_c && error.kind() != Kind::no_value) throw;
    unset_reason_[global] =
        fmt::format("the default of {} points to unknown data: {}", it.name.text, error.what());
  }
}

void CLibrary::fail(SourceRange where, const std::string& message) const {
  std::string text = shown(Diagnostic{Severity::error, where, message, {}}, file_.source);
  text.pop_back();
  throw EvaluationError(EvaluationError::Kind::needs_c, where, text);
}

void CLibrary::require(std::span<const std::uint32_t> globals, SourceRange where) const {
  for (const std::uint32_t global : globals)
    if (!unset_reason_[global].empty()) fail(where, unset_reason_[global]);
}

void CLibrary::require(ExpressionId id) const {
  if (id >= leaves_.size() || leaves_[id].function == nullptr)
    fail(file_.at(id).where, "this C is in an interpreted body: only C outside bodies is compiled");
  require(leaves_[id].of->globals, file_.at(id).where);
}

Value CLibrary::value(ExpressionId id, std::span<const Value> slots) const {
  require(id);
  const Leaf& leaf = leaves_[id];
  std::vector<std::int64_t> indices;
  for (const auto& [name, slot] : leaf.of->locals) {
    if (!slots[slot].is_known())
      fail(file_.at(id).where, fmt::format("the value of {} is unknown here", name));
    indices.push_back(slots[slot].integer());
  }
  std::int64_t whole = 0;
  double real = 0;
  return leaf.function(globals_.data(), indices.data(), &whole, &real) != 0 ? Value::of_double(real)
                                                                            : Value::of(whole);
}

void CLibrary::require_bodies() const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (bodies_[i] == nullptr) continue;
    for (const Body* body : emit_bodies_of(file_, file_.classes[i])) {
      std::vector<std::uint32_t> globals;
      for (const std::string& word : words_of_c(file_.source.text(body->code)))
        if (const std::uint32_t global = file_.global_numbers.find(word); global != unbound_index)
          globals.push_back(global);
      require(globals, body->where);
    }
  }
}

void CLibrary::run(std::uint32_t task_class, const std::int64_t* parameters, void* const* tiles,
                   std::span<PrivateInt> own) const {
  std::vector<std::uint64_t> with_own;
  if (!own.empty()) with_own = globals_;
  for (PrivateInt& it : own) set_in(with_own, it.global, 0, 0, &it.value);
  parsec::done(file_.classes[task_class].name.text.c_str(),
               bodies_[task_class]((own.empty() ? globals_ : with_own).data(), parameters, tiles));
}

}  // namespace fairlead::jdf
