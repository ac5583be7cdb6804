// A JDF file runs on matrices in files: the results are those of the formula, in both precisions, with a checked graph and an
// unchecked one, and on two ranks.
#include "solver/jdf/jdf_steps.hpp"

#include <fairlead/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/linalg/tile_functions.hpp"
#include "data/matrix/formats.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf_graph/graph_check.hpp"
#include "little_memory.hpp"
#include "solver/jdf/jdf_algorithms.hpp"
#include "temporary_directory.hpp"

namespace fairlead::solver {
namespace {

constexpr std::int64_t m = 50, n = 40, k = 30;
constexpr std::int32_t tile = 16;

/// A value of each matrix; small integers, so that all sums are exact.
double value(char matrix, std::int64_t i, std::int64_t j) {
  return static_cast<double>((7 * i + 3 * j + matrix) % 11 - 5);
}
double expected(std::int64_t i, std::int64_t j) {
  double sum = 3 * value('C', i, j);
  for (std::int64_t l = 0; l < k; ++l) sum += 2 * value('A', i, l) * value('B', l, j);
  return sum;
}

class JdfProduct {
 public:
  template <class T>
  void write_inputs() {
    write<T>('A', m, k);
    write<T>('B', k, n);
    write<T>('C', m, n);
    in_single_ = std::is_same_v<T, float>;
  }

  /// Returns the rows and columns of C whose elements differ from the formula; an empty text if there are none.
  std::string differences(bool checked, std::uint32_t ranks = 1) {
    const std::vector<Rank> places = ranks == 1 ? std::vector<Rank>(1) : ranks_in_process(ranks);
    std::vector<std::thread> others;
    for (std::uint32_t i = 1; i < ranks; ++i)
      others.emplace_back([&, i] { run_on(places[i], ranks, checked); });
    run_on(places[0], ranks, checked);
    for (std::thread& other : others) other.join();
    const auto c = data::open_matrix_file((directory_ / "out.npy").string());
    std::vector<double> elements(m * n);
    std::vector<std::byte> staging(4096);
    c->read_block<double>(0, m, 0, n, elements.data(), m, staging);
    std::string text;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (const double found = elements[static_cast<std::size_t>(i + j * m)]; found != expected(i, j))
          text += std::to_string(i) + "," + std::to_string(j) + " is " + std::to_string(found) + "\n";
    return text;
  }

  std::shared_ptr<jdf::RunnableJdf> program() const {
    jdf::Diagnostics diagnostics;
    std::string text;
    for (const EmbeddedFile& file : jdf_algorithm_files())
      if (file.name == "gemm.jdf") text = file.text;
    for (std::size_t at = 0; in_single_ && (at = text.find("tile_d", at)) != text.npos;)
      text.replace(at, 6, "tile_s");
    auto made = std::make_shared<jdf::RunnableJdf>(jdf::read(jdf::SourceFile("gemm.jdf", text), diagnostics),
                                                   linalg::tile_functions(), diagnostics);
    EXPECT_EQ(diagnostics.errors(), 0U);
    made->settings.set("alpha=2");
    made->settings.set("beta=3");
    return made;
  }
  std::vector<JdfMatrix> matrices(const jdf::RunnableJdf& jdf) const {
    std::vector<JdfMatrix> all;
    for (const char name : {'A', 'B', 'C'}) {
      JdfMatrix one;
      one.name = std::string("desc") + name;
      one.global = jdf.file.global_numbers.find(one.name);
      one.file = data::open_matrix_file((directory_ / (std::string(1, name) + ".npy")).string());
      one.rows = static_cast<std::int64_t>(one.file->rows());
      one.columns = static_cast<std::int64_t>(one.file->columns());
      one.tile = tile;
      one.in_single = in_single_;
      if (name == 'C') one.output = (directory_ / "out.npy").string();
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  template <class T>
  void write(char name, std::int64_t rows, std::int64_t columns) {
    const auto r = static_cast<std::uint64_t>(rows), c = static_cast<std::uint64_t>(columns);
    data::NpyWriter out(directory_ / (std::string(1, name) + ".npy"), element_type_of<T>,
                        data::StorageOrder::fortran, {r, c});
    std::vector<T> elements;
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i) elements.push_back(static_cast<T>(value(name, i, j)));
    out.write_block<T>(0, r, 0, c, elements.data(), r);
    out.commit();
  }

  void run_on(const Rank& rank, std::uint32_t ranks, bool checked) const {
    const GridRank place{.rank = rank,
                         .grid = {.rank_rows = 1, .rank_columns = static_cast<std::int32_t>(ranks)},
                         .readers = ranks};
    const auto jdf = program();
    const std::vector<JdfMatrix> given = matrices(*jdf);
    for (const JdfMatrix& it : given) jdf->settings.describe(it.global, it.shape());
    JdfRunOptions options{.check_samples = !checked};
    if (checked) {
      const jdf::GraphCheck check = jdf::check_graph(*jdf, ranks == 1 ? nullptr : &place.grid);
      EXPECT_EQ(check.errors, "");
      ASSERT_TRUE(check.known);
      options.known = *check.known;
    }
    const linalg::Kernels kernels = linalg::Kernels::load();
    JdfSteps steps(jdf, given, kernels, place, std::move(options));
    Execution run(tests::in_little_memory(), Bytes{4} << 20, kernels, Front::flow, rank);
    std::vector<std::shared_ptr<data::NpyWriter>> outputs;
    if (place.first()) outputs.push_back(make_output(given.back()));
    bool complete = false;
    steps.run(run, outputs, [&] {
      for (const auto& output : outputs) output->commit();
      complete = true;
    });
    EXPECT_TRUE(complete);
    EXPECT_GT(steps.seconds(), 0);
    EXPECT_EQ(run.phases().front().name, "reading");
    EXPECT_EQ(run.phases().back().name, "writing");
  }

  const tests::TemporaryDirectory directory_;
  bool in_single_ = false;
};

TEST(JdfSteps, ComputeTheProductOfMatricesInFiles) {
  JdfProduct product;
  product.write_inputs<double>();
  EXPECT_EQ(product.differences(true), "");
  EXPECT_EQ(product.differences(false), "");
  product.write_inputs<float>();
  EXPECT_EQ(product.differences(true), "");
}

TEST(JdfSteps, ComputeTheSameOnTwoRanks) {
  JdfProduct product;
  product.write_inputs<double>();
  EXPECT_EQ(product.differences(true, 2), "");
}

TEST(JdfSteps, ChooseATileForTheLargestMatrix) {
  JdfProduct product;
  product.write_inputs<double>();
  const auto jdf = product.program();
  std::vector<JdfMatrix> given = product.matrices(*jdf);
  const Config config = tests::in_little_memory();
  EXPECT_EQ(jdf_problem(given, config, 2, 1).tile, tile) << "that of the matrices";
  for (JdfMatrix& it : given) it.tile = 0;
  const DenseProblem problem = jdf_problem(given, config, 2, 1);
  EXPECT_EQ(problem.rows(), m);
  EXPECT_EQ(problem.n, n);
  EXPECT_GT(problem.tile, 0);
  report::RunReport report;
  add_matrices(report, given, problem);
  EXPECT_EQ(report.input_bytes, static_cast<Bytes>(m * k + k * n + m * n) * 8);
  EXPECT_EQ(report.bounds->inputs, report.input_bytes);
  EXPECT_EQ(report.bounds->results, static_cast<Bytes>(m * n) * 8);
  EXPECT_TRUE(report.bounds->fits);
}

TEST(GraphCheck, ReportsAGraphThatIsInvalidForItsSizes) {
  JdfProduct product;
  product.write_inputs<double>();
  const auto jdf = product.program();
  for (JdfMatrix it : product.matrices(*jdf)) {
    if (it.name == "descB") it.rows = 4 * tile;  // more tiles than A has columns of tiles
    jdf->settings.describe(it.global, it.shape());
  }
  EXPECT_EQ(jdf::check_graph(*jdf, nullptr).errors, "") << "the graph follows A";
  jdf::Diagnostics diagnostics;
  const std::string text =
      "NT [ type = int ]\nA [ type = \"tiled_matrix *\" ]\n\nT(k)\nk = 0 .. NT\n: A(k, 0)\n"
      "RW X <- (k == NT) ? A(0, 0) : X T(k-1)\n     -> X T(k+1)\nBODY\n{\n}\nEND\n";
  jdf::RunnableJdf chain(jdf::read(jdf::SourceFile("chain.jdf", text), diagnostics), linalg::tile_functions(),
                         diagnostics);
  chain.settings.set("NT=4");
  const jdf::GraphCheck checked = jdf::check_graph(chain, nullptr);
  EXPECT_NE(checked.errors, "") << "the first task has no input";
  EXPECT_FALSE(checked.known);
}

}  // namespace
}  // namespace fairlead::solver
