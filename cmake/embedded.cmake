# Files of the repository as text inside the library, so that the command finds them in any installation: the machines of
# machines/, the experiments of experiments/, the algorithms in JDF of examples/jdf/, and the templates of pages
# (src/report/html/ and src/front/live/).

# embed(FUNCTION NAMESPACE HEADER FOLDER GLOB...): generates FUNCTION(), declared in HEADER, which returns the files of FOLDER
# as EmbeddedFile {name, text}; a name is the path below FOLDER, without .toml.
set(embedded_sources "")
function(embed function namespace header folder)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE globs)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${globs})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(texts "")
  foreach(file ${files})
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/${folder}" ${file})
    string(REGEX REPLACE "\\.toml$" "" name ${name})
    file(READ ${file} text)
    string(APPEND texts "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${function}.cpp" CONTENT [[
// Made from the files of @folder@/ by cmake/embedded.cmake.
#include "@header@"

namespace fairlead::@namespace@ {
namespace {
constexpr EmbeddedFile files_of_@function@[] = {
@texts@};
}  // namespace

std::span<const EmbeddedFile> @function@() { return files_of_@function@; }
}  // namespace fairlead::@namespace@
]] @ONLY)
  set(embedded_sources ${embedded_sources} "${PROJECT_BINARY_DIR}/${function}.cpp" PARENT_SCOPE)
endfunction()

embed(built_in_machine_files machine machine/machine_files.hpp machines *.toml)
embed(experiment_files experiment experiment/experiment.hpp experiments *.toml)
embed(jdf_algorithm_files solver solver/jdf/jdf_algorithms.hpp examples/jdf cholesky.jdf lu.jdf gemm.jdf)
embed(page_files report::html report/html/page_files.hpp src/report/html *.js *.css *.html)
embed(live_page_files front front/live/live_page.hpp src/front/live *.html)
embed(c_headers jdf front/jdf_c/c_headers.hpp include/fairlead parsec_compat.h core_blas_compat.h core_blas_kernels.h)
embed(parsec_headers jdf front/jdf_c/c_headers.hpp cmake/parsec *.h)
