// Helpers for tests with JDF texts: parsing, messages, unrolling.
#pragma once
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/parser.hpp"
#include "front/jdf/unroll.hpp"
#include "front/unrolled/check.hpp"

namespace fairlead::jdf::tests {

/// The folder of these tests; the examples are found relative to it.
inline std::filesystem::path test_folder() { return std::filesystem::path(__FILE__).parent_path(); }
inline std::filesystem::path examples_folder() {
  return test_folder().parent_path().parent_path().parent_path() / "examples" / "jdf";
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return std::move(out).str();
}

struct ReadText {
  JdfFile file;
  std::string messages;  ///< all errors and warnings, as printed
  std::size_t errors = 0;
};

inline ReadText read_text(std::string text, std::string name = "it.jdf") {
  Diagnostics diagnostics;
  JdfFile file = read(SourceFile(std::move(name), std::move(text)), diagnostics);
  std::string messages = shown(diagnostics, file.source);
  return {std::move(file), std::move(messages), diagnostics.errors()};
}

/// A file with one class T(k), k = 0 .. 3, with these flows.
inline std::string class_with(std::string_view flows) {
  return "N [type = int]\nA [type = \"tiled_matrix *\"]\nT(k)\nk = 0 .. 3\n: A(k, 0)\n" + std::string(flows) +
         "\nBODY\nEND\n";
}

using Assignments = std::initializer_list<const char*>;

inline Settings settings_of(const JdfFile& file, Assignments assignments, Assignments matrices = {}) {
  Settings out(file);
  for (const char* matrix : matrices) out.describe(matrix);
  for (const char* assignment : assignments) out.set(assignment);
  return out;
}

inline unrolled::TaskGraph unrolled_text(const std::string& text, Assignments assignments,
                                         Assignments matrices = {}) {
  const ReadText it = read_text(text);
  if (it.errors != 0) throw InputError(it.messages);
  return unroll(it.file, settings_of(it.file, assignments, matrices)).graph;
}

/// All tasks, for example "POTRF(0)".
inline std::set<std::string> task_names(const unrolled::TaskGraph& graph) {
  std::set<std::string> out;
  for (unrolled::TaskId task = 0; task < graph.tasks.size(); ++task) out.insert(unrolled::label(graph, task));
  return out;
}

using EdgeNames = std::set<std::pair<std::string, std::string>>;

/// Pairs such as ("T of POTRF(0)", "T of TRSM(1,0)"): as stated by consumers or by producers.
inline EdgeNames edge_names(const unrolled::TaskGraph& graph, bool of_producers) {
  EdgeNames out;
  for (const unrolled::EdgeEnd& end : of_producers ? graph.outputs : graph.inputs) {
    const std::string own = unrolled::label(graph, end.task, end.flow), other = unrolled::label(graph, end);
    if (of_producers)
      out.emplace(own, other);
    else
      out.emplace(other, own);
  }
  return out;
}

}  // namespace fairlead::jdf::tests
