// One execution of an interpreted body for a task's parameters and tiles, or a dry run that counts its operations.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/small_array.hpp"
#include "front/jdf_graph/runnable_jdf.hpp"

namespace fairlead::jdf {

class BodyRun {
 public:
  /// `tiles` and `elements`: by flow of the class. Only run() accesses the content of the tiles.
  BodyRun(const RunnableJdf& program, const Constants& constants, std::uint32_t task_class,
          std::span<const std::int64_t> parameters, std::span<const fairlead::detail::TileArgument> tiles,
          std::span<const TilePrecision> elements);

  /// Executes the body. Throws NumericalError if a function fails and its result is unused, or if the body sets INFO;
  /// UsageError if a call exceeds the size of a tile.
  void run(const linalg::Kernels& kernels);

  struct OperationCount {
    double flops = 0;
    double side = 0;  ///< the smallest dimension in all calls; 0: the calls do nothing
  };
  /// The operations that the body would execute, assuming that no call fails.
  OperationCount count_operations();
  /// The value of a property, or nothing if it has none or needs C.
  std::optional<double> property_value(ExpressionId property);

 private:
  enum class ControlFlow : std::uint8_t { on, over };
  BodyRun(const BodyRun&) = delete;
  BodyRun& operator=(const BodyRun&) = delete;
  ControlFlow all(const std::vector<StatementId>& statements);
  ControlFlow one(const Statement& it);
  int call(const BodyCall& it);
  Value derived(const Definition& it);
  void load_pointed();
  void point(const Statement& it);
  std::string where(SourceRange range) const;
  std::string task() const;

  const RunnableJdf& program_;
  const TaskClass& class_;
  const InterpretedBody& body_;
  std::span<const std::int64_t> parameters_;
  std::span<const fairlead::detail::TileArgument> tiles_;
  std::span<const TilePrecision> elements_;
  Evaluator evaluator_;
  SmallArray<Value, 24> row_;
  std::span<Value> slots_;
  const linalg::Kernels* kernels_ = nullptr;  // null in a dry run
  OperationCount amount_;
  std::string failure_;  // describes the last call that failed
};

}  // namespace fairlead::jdf
