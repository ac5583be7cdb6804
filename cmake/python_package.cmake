# The files of a wheel other than Python's own: the compiled module, the shared library, and the command, which finds the
# library next to it. scikit-build-core installs this component only (pyproject.toml).
if(NOT TARGET fairlead_shared)
  return()
endif()

# The compiled module is optional: the package has the same in Python. It uses the stable interface of CPython, so one file
# serves all versions from 3.10 on. In a build folder it lies next to the library, where the package looks for it.
add_custom_target(fairlead_python ALL)
find_package(Python3 3.10 QUIET COMPONENTS Interpreter Development.Module)
if(Python3_Development.Module_FOUND)
  enable_language(C)
  add_library(fairlead_python_tasks MODULE python/extension/tasks.c)
  set_target_properties(fairlead_python_tasks PROPERTIES C_STANDARD 11 C_VISIBILITY_PRESET hidden PREFIX ""
    OUTPUT_NAME _tasks SUFFIX .abi3.so LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(fairlead_python_tasks PRIVATE include SYSTEM ${Python3_INCLUDE_DIRS})
  target_compile_options(fairlead_python_tasks PRIVATE -O2 -Wall -Wextra
    $<$<BOOL:${FAIRLEAD_WARNINGS_AS_ERRORS}>:-Werror>)
  add_dependencies(fairlead_python fairlead_python_tasks)
else()
  message(STATUS "Python.h was not found: the Python package calls the bodies of tasks without its compiled module")
endif()

if(NOT FAIRLEAD_PYTHON_PACKAGE)
  if(TARGET fairlead_python_tasks)
    install(TARGETS fairlead_python_tasks LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fairlead)
  endif()
  return()
endif()
# The wheel brings hwloc; OpenBLAS is the one of the Python package scipy-openblas32, which is installed in the same folder.
set(blas_folder "$ORIGIN/../../scipy_openblas32/lib")
set_target_properties(fairlead_shared PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;${blas_folder}")
# A wheel has no symbolic links: only the name that programs load.
install(FILES $<TARGET_FILE:fairlead_shared> DESTINATION fairlead/lib COMPONENT python
        RENAME $<TARGET_SONAME_FILE_NAME:fairlead_shared>)
find_library(HWLOC_SHARED_LIBRARY NAMES libhwloc.so.15 hwloc REQUIRED)
file(REAL_PATH ${HWLOC_SHARED_LIBRARY} hwloc_file)
install(FILES ${hwloc_file} DESTINATION fairlead/lib COMPONENT python RENAME libhwloc.so.15)
if(TARGET fairlead_command)
  set_target_properties(fairlead_command PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib;${blas_folder}")
  install(TARGETS fairlead_command RUNTIME DESTINATION fairlead/bin COMPONENT python)
endif()
# Loaded in processes that mpirun has started.
foreach(name openmpi mpich)
  if(TARGET fairlead_${name})
    add_dependencies(fairlead_shared fairlead_${name})
    install(TARGETS fairlead_${name} LIBRARY DESTINATION fairlead/lib COMPONENT python)
  endif()
endforeach()
if(TARGET fairlead_python_tasks)
  install(TARGETS fairlead_python_tasks LIBRARY DESTINATION fairlead COMPONENT python)
endif()
