// One run of an interpreted body: of a task with its parameters and tiles; or as if, to count what it will compute.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/short_row.hpp"
#include "front/jdf_graph/program.hpp"

namespace fairlead::jdf {

class BodyRun {
 public:
  /// `tiles`: by flow of the class; what they hold counts for run() only. `elements`: likewise.
  BodyRun(const Program& program, const Constants& constants, std::uint32_t task_class,
          std::span<const std::int64_t> parameters, std::span<const fairlead::detail::TileArgument> tiles,
          std::span<const Precision> elements);

  /// Throws NumericalError where a function fails and nobody looks at it, or the body sets INFO; UsageError for a call
  /// that uses more than the tiles have.
  void run(const linalg::Kernels& kernels);

  struct Amount {
    double flops = 0;
    double side = 0;  ///< the smallest of what the calls work on; 0: they do nothing
  };
  /// What it would compute, if nothing fails.
  Amount amount();
  /// A property's value; nothing if only C can say it.
  std::optional<double> said(ExpressionId property);

 private:
  enum class Going : std::uint8_t { on, over };
  BodyRun(const BodyRun&) = delete;
  BodyRun& operator=(const BodyRun&) = delete;
  Going all(const std::vector<StatementId>& statements);
  Going one(const Statement& it);
  int call(const BodyCall& it);
  Value derived(const Definition& it);
  void load_pointed();
  void point(const Statement& it);
  std::string where(Range range) const;
  std::string task() const;

  const Program& program_;
  const TaskClass& class_;
  const ReadBody& body_;
  std::span<const std::int64_t> parameters_;
  std::span<const fairlead::detail::TileArgument> tiles_;
  std::span<const Precision> elements_;
  Evaluator evaluator_;
  ShortRow<Value, 24> row_;
  std::span<Value> slots_;
  const linalg::Kernels* kernels_ = nullptr;  // null: as if
  Amount amount_;
  std::string failure_;  // of the last call that failed
};

}  // namespace fairlead::jdf
