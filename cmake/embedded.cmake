# Files of the repository as text inside the library, so that the command finds them wherever it is installed:
# the machines of machines/, and the experiments of experiments/.

# embed(FOLDER GLOB TYPE FUNCTION NAMESPACE HEADER): makes FUNCTION(), which returns the files as TYPE {name, text}; a
# name is the path below FOLDER without its ending.
function(embed folder glob type function namespace header)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/${glob}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(texts "")
  foreach(file ${files})
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/${folder}" ${file})
    string(REGEX REPLACE "\\.toml$" "" name ${name})
    file(READ ${file} text)
    string(APPEND texts "    {\"${name}\", R\"toml(${text})toml\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${function}.cpp" CONTENT [[
// Made from the files of @folder@/ by cmake/embedded.cmake.
#include "@header@"

namespace fairlead::@namespace@ {
namespace {
constexpr @type@ files[] = {
@texts@};
}  // namespace

std::span<const @type@> @function@() { return files; }
}  // namespace fairlead::@namespace@
]] @ONLY)
endfunction()

embed(machines *.toml MachineFile machine_files machine machine/machine_files.hpp)
embed(experiments *.toml ExperimentFile experiment_files experiment experiment/experiment.hpp)
