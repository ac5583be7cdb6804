// See jdf_compile.hpp.
#include "fairlead/jdf/jdf_compile.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <cstdio>
#include <filesystem>

#include "fairlead/run/distinct_files.hpp"
#include "fairlead/subcommand.hpp"
#include "front/jdf/emit.hpp"
#include "front/jdf/emit_bodies.hpp"
#include "front/jdf/parser.hpp"
#include "report/report_file.hpp"

namespace fairlead::app {

namespace {

bool print_diagnostics(const jdf::Diagnostics& diagnostics, const jdf::SourceFile& source, bool warnings) {
  for (const jdf::Diagnostic& it : diagnostics.sorted())
    if (warnings || it.severity == jdf::Severity::error) fmt::print(stderr, "{}", jdf::shown(it, source));
  return diagnostics.errors() != 0;
}

}  // namespace

int compile_jdf(const std::string& path, const std::string& output, bool warnings) {
  const std::filesystem::path place(output);
  if (place.extension() != ".cpp" && place.extension() != ".cc" && place.extension() != ".cxx")
    throw ConfigError(
        fmt::format("fairlead jdf compile: -o {} is not the name of a C++ file: end it in .cpp", output));
  const std::string stem = place.stem().string();
  const auto in_same_folder = [&](const std::string& name) { return (place.parent_path() / name).string(); };
  const jdf::EmitNames names{jdf::cpp_name(stem), std::filesystem::path(path).filename().string(),
                             place.filename().string(), stem + ".hpp", stem + "_bodies.c"};
  require_distinct_files({}, {{"the graph", path}},
                         {{"--output", output},
                          {"the header", in_same_folder(names.header)},
                          {"the C", in_same_folder(names.bodies)}});

  jdf::Diagnostics diagnostics;
  const jdf::JdfFile file = jdf::read(jdf::SourceFile::read(path), diagnostics);
  if (print_diagnostics(diagnostics, file.source, warnings)) return failure;
  jdf::Diagnostics of_compiling;
  const jdf::EmittedFiles emitted = jdf::emit(file, names, of_compiling);
  if (print_diagnostics(of_compiling, file.source, warnings)) return failure;
  for (const std::string& note : jdf::omission_notes(file)) fmt::print(stderr, "{}\n", note);

  // Write all files or, as far as can be checked before, none.
  for (const std::string& name : {names.header, names.bodies})
    report::require_place_for(in_same_folder(name));
  report::require_place_for(output);
  const report::FileText files[] = {{in_same_folder(names.bodies), emitted.bodies},
                                    {in_same_folder(names.header), emitted.header},
                                    {output, emitted.source}};
  report::write_files(files);
  return success;
}

}  // namespace fairlead::app
