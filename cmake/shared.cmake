# The shared library, of the same objects as the static one. It exports what the public headers declare and nothing else:
# exported_symbols.txt lists it, scripts/list-exported-symbols makes that list.
option(FAIRLEAD_BUILD_SHARED "Build the shared library next to the static one" ON)
if(NOT FAIRLEAD_BUILD_SHARED OR FAIRLEAD_SANITIZE)  # no test under a sanitizer loads it
  return()
endif()

set(exported_symbols ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exported_symbols})
file(STRINGS ${exported_symbols} c_symbols REGEX "^fairlead_")  # of fairlead.h and fairlead_tasks.h
list(JOIN c_symbols ";\n    " c_symbols)
file(READ ${exported_symbols} symbols)
string(REGEX REPLACE "fairlead_[a-z_]+\n" "" symbols "${symbols}")
string(REGEX REPLACE "([^\n]+)\n" "    \"\\1\";\n" symbols "${symbols}")
set(version_script ${PROJECT_BINARY_DIR}/fairlead.map)
# Before 1.0 a minor version may change the binary interface, so that it is part of the name that programs load.
set(interface_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(CONFIGURE OUTPUT ${version_script} CONTENT
  "FAIRLEAD_${interface_version} {\n  global:\n    ${c_symbols};\n    extern \"C++\" {\n${symbols}    };\n  local: *;\n};\n" @ONLY NEWLINE_STYLE UNIX)

add_library(fairlead_shared SHARED $<TARGET_OBJECTS:fairlead> $<TARGET_OBJECTS:fairlead_cold>)
add_library(fairlead::shared ALIAS fairlead_shared)
set_target_properties(fairlead_shared PROPERTIES OUTPUT_NAME fairlead EXPORT_NAME shared LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${interface_version} LINK_DEPENDS ${version_script})
target_link_options(fairlead_shared PRIVATE -Wl,--version-script=${version_script} -Wl,-z,defs)
target_include_directories(fairlead_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(fairlead_shared INTERFACE cxx_std_20)
if(FAIRLEAD_CHECK_INDICES)
  target_compile_definitions(fairlead_shared INTERFACE FAIRLEAD_CHECK_INDICES)
endif()
target_link_libraries(fairlead_shared PUBLIC Threads::Threads PRIVATE PkgConfig::hwloc ${fairlead_fmt} ${CMAKE_DL_LIBS})
install(TARGETS fairlead_shared EXPORT fairlead_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
