# A plug-in for each installed MPI: the same sources, compiled with its header, loaded by programs that its mpirun starts.
# The rest of Fairlead does not depend on MPI.
cmake_path(SET plugins_installed ${CMAKE_INSTALL_LIBDIR}/fairlead)
file(GLOB mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/mpi/*.cpp")

# A plug-in and the program that loads it must be compiled with the same versions of these files.
set(network_interface "")
foreach(header plugin.hpp ../network.hpp ../endpoint_commands.hpp ../../base/device_memory.hpp ../value_layout.hpp ../names.hpp)
  set(file ${PROJECT_SOURCE_DIR}/src/net/mpi/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(SHA256 ${file} hash)
  string(APPEND network_interface ${hash})
endforeach()
string(SHA256 network_interface ${network_interface})
string(SUBSTRING ${network_interface} 0 16 network_interface)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/network_interface/net/interface_of_plugins.hpp CONTENT [[
// Made by cmake/mpi.cmake of the headers that a plug-in for an MPI includes.
#pragma once

namespace fairlead::net {

inline constexpr const char* interface_of_plugins = "@PROJECT_VERSION@ @network_interface@";

}  // namespace fairlead::net
]] @ONLY)
target_include_directories(fairlead PRIVATE ${PROJECT_BINARY_DIR}/network_interface)
target_include_directories(fairlead_cold PRIVATE ${PROJECT_BINARY_DIR}/network_interface)

function(fairlead_add_mpi_plugin name target)
  add_library(fairlead_${name} MODULE ${mpi_sources})
  set_target_properties(fairlead_${name} PROPERTIES PREFIX "" OUTPUT_NAME fairlead-${name}
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins CXX_VISIBILITY_PRESET hidden)
  target_include_directories(fairlead_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_BINARY_DIR}/network_interface)
  target_link_libraries(fairlead_${name} PRIVATE fairlead_options ${target})
  if(FAIRLEAD_SANITIZE MATCHES "thread")  # none of its tests is started by mpirun
    set_target_properties(fairlead_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  install(TARGETS fairlead_${name} LIBRARY DESTINATION ${plugins_installed})
endfunction()

set(fairlead_mpis "")
pkg_check_modules(openmpi QUIET IMPORTED_TARGET ompi-c)
pkg_check_modules(mpich QUIET IMPORTED_TARGET mpich)
foreach(name openmpi mpich)
  if(${name}_FOUND)
    fairlead_add_mpi_plugin(${name} PkgConfig::${name})
    list(APPEND fairlead_mpis "${name} ${${name}_VERSION}")
  endif()
endforeach()
list(JOIN fairlead_mpis ", " mpis)
if(mpis STREQUAL "")
  set(mpis "none: programs cannot be started by mpirun")
endif()
message(STATUS "MPI: ${mpis}")
