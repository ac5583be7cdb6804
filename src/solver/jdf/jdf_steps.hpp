// The run of a JDF file on matrices: reads them, runs the tasks, and writes the results; in core or out of core, on one rank or
// several.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/matrix/stored_matrix.hpp"
#include "data/npy/npy_writer.hpp"
#include "front/checkpoint/checkpoint_index.hpp"
#include "front/jdf_c/c_library.hpp"
#include "front/jdf_graph/lower.hpp"
#include "report/run_report.hpp"
#include "solver/execution.hpp"
#include "solver/grid_rank.hpp"

namespace fairlead::solver {

/// A matrix of a JDF file.
struct JdfMatrix {
  std::uint32_t global = 0;                        ///< of the file
  std::string name;                                ///< of that global
  std::shared_ptr<const data::StoredMatrix> file;  ///< null: zeros at the start
  std::int64_t rows = 0, columns = 0;
  TileSize tile = 0;  ///< 0: to be chosen
  bool in_single = false;
  std::string output;  ///< path of the file with the result; empty: none

  jdf::MatrixShape shape() const noexcept { return {rows, columns, tile.rows, tile.columns}; }
  Bytes bytes() const noexcept {
    return static_cast<Bytes>(rows) * static_cast<Bytes>(columns) *
           (in_single ? sizeof(float) : sizeof(double));
  }
};

/// The graph as a problem: the size of the largest matrix, and the tile for matrices without one. `matrices` must not be
/// empty.
DenseProblem jdf_problem(std::span<const JdfMatrix> matrices, const Config& config, std::size_t workers,
                         std::uint32_t ranks);

/// The file for a result: in the format of the matrix's file, or in C order. Throws SystemError.
std::shared_ptr<data::NpyWriter> make_output(const JdfMatrix& matrix);

/// What the report contains of the matrices: bytes of the files, and bounds that count every byte once, since the algorithm is
/// unknown.
void add_matrices(report::RunReport& report, std::span<const JdfMatrix> matrices,
                  const DenseProblem& problem);

struct JdfRunOptions {
  jdf::KnownOutputs known{};               ///< of the graph, if it was checked
  bool check_samples = false;              ///< check samples of the edges before the run
  std::shared_ptr<jdf::CLibrary> in_c{};   ///< bodies in C; null: none
  front::CheckpointIdentity checkpoint{};  ///< empty: without checkpoints
  std::function<void()> on_progress{};     ///< called during long preparations; may throw to cancel
  /// Receives the errors of samples, in lines; may throw in place of the InputError that follows.
  std::function<void(const std::string&)> errors = [](const std::string&) {};
};

class JdfSteps {
 public:
  /// `program` has complete settings, and `matrices` have tiles. All references must stay valid. Outlives the execution: after
  /// an exception, its tasks may still read.
  JdfSteps(std::shared_ptr<jdf::RunnableJdf> program, std::span<const JdfMatrix> matrices,
           const linalg::Kernels& kernels, const GridRank& place, JdfRunOptions options);

  /// Collective. `outputs`: on the first rank, the files of the results, in the order of the matrices. Calls `last` when all
  /// elements are written, to complete the results. Throws InputError if a sample has errors, UsageError for an
  /// error of the graph, and as Execution::end().
  void run(Execution& run, std::span<const std::shared_ptr<data::NpyWriter>> outputs,
           const std::function<void()>& last);

  double seconds() const noexcept { return seconds_; }  ///< of reading, tasks and writing
  /// The values that globals point to, by global: of several that are not 0, the first rank's counts.
  const std::vector<std::int32_t>& pointed() const noexcept { return pointed_; }

 private:
  struct Matrices;
  void read(Execution& run, Matrices& matrices);
  void compute_with_checkpoints(Execution& run, ptg::Graph& graph) const;
  void compute(Execution& run, ptg::Graph& graph, std::span<const jdf::BoundData> data);
  void read_pointed(Execution& run);
  void write(Execution& run, Matrices& matrices, std::span<const std::shared_ptr<data::NpyWriter>> outputs);
  void check_samples(const ptg::Graph& graph) const;

  std::shared_ptr<jdf::RunnableJdf> program_;
  std::span<const JdfMatrix> given_;
  const linalg::Kernels& kernels_;
  const GridRank& place_;
  JdfRunOptions options_;
  double seconds_ = 0;
  std::vector<std::int32_t> pointed_;
  std::vector<std::shared_ptr<void>> readers_;
};

}  // namespace fairlead::solver
