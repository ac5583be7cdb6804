# A plug-in for each MPI that is there: the same sources, compiled with its header, loaded by programs that its mpirun has
# started. Nothing else of Fairlead knows MPI, and without one it is whole but for that.
cmake_path(SET plugins_installed ${CMAKE_INSTALL_LIBDIR}/fairlead)
file(GLOB mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/mpi/*.cpp")

function(fairlead_add_mpi_plugin name target)
  add_library(fairlead_${name} MODULE ${mpi_sources})
  set_target_properties(fairlead_${name} PROPERTIES PREFIX "" OUTPUT_NAME fairlead-${name}
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins CXX_VISIBILITY_PRESET hidden)
  target_include_directories(fairlead_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                             ${policy_interface_folder})
  target_link_libraries(fairlead_${name} PRIVATE fairlead_options ${target})
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
