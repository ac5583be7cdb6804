# The machine files of machines/ as text inside the library: the command finds them wherever it is installed.
file(GLOB machine_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/machines/*.toml")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${machine_files})
set(machine_texts "")
foreach(file ${machine_files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND machine_texts "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/machine_files.cpp" CONTENT [[
// Made from machines/*.toml by cmake/machines.cmake.
#include <array>

#include "machine/machine_files.hpp"

namespace fairlead::machine {
namespace {
constexpr MachineFile files[] = {
@machine_texts@};
}  // namespace

std::span<const MachineFile> machine_files() { return files; }
}  // namespace fairlead::machine
]] @ONLY)
