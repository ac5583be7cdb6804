# The contents of `cmake --install`: the libraries, their headers, a package for find_package(fairlead), and a file for
# pkg-config.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fairlead)

# For policies: the same headers with the same names as in src/, so that a file works there and as a plug-in. In a
# separate folder, which is not on the include path of other users.
set(policy_folder ${CMAKE_INSTALL_INCLUDEDIR}/fairlead/policy_interface)
add_library(policy_interface INTERFACE)
add_library(fairlead::policy_interface ALIAS policy_interface)
target_include_directories(policy_interface INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${policy_interface_folder}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${policy_folder}>)
include(cmake/fairlead_policy.cmake)
foreach(header ${policy_interface_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${policy_folder}/${folder})
endforeach()
install(FILES ${policy_interface_folder}/policy/interface_hash.hpp DESTINATION ${policy_folder}/policy)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/fairlead_policy.cmake DESTINATION ${package_folder})

# For task graphs in the language JDF.
include(cmake/fairlead_jdf.cmake)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/fairlead_jdf.cmake DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/parsec DESTINATION ${package_folder})

set_target_properties(fairlead PROPERTIES EXPORT_NAME static)  # fairlead-config.cmake makes fairlead::fairlead of it
install(TARGETS fairlead policy_interface EXPORT fairlead_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fairlead DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/include/fairlead.h ${PROJECT_SOURCE_DIR}/include/fairlead_simulation.h
  ${PROJECT_SOURCE_DIR}/include/fairlead_tasks.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT fairlead_targets NAMESPACE fairlead:: DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fairlead-config.cmake.in
  ${PROJECT_BINARY_DIR}/fairlead-config.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 the interface may change with every minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fairlead-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fairlead-config.cmake ${PROJECT_BINARY_DIR}/fairlead-config-version.cmake
        DESTINATION ${package_folder})

set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pkgconfig "/prefix/${pkgconfig_folder}" "/prefix")
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})
set(definitions_of_pkgconfig "")
if(FAIRLEAD_CHECK_INDICES)
  set(definitions_of_pkgconfig " -DFAIRLEAD_CHECK_INDICES")
endif()
# Programs that link only the static library need what it uses, with or without --static.
set(requirements_of_pkgconfig "Requires: fmt hwloc")
if(TARGET fairlead_shared)
  set(requirements_of_pkgconfig "Requires.private: fmt hwloc")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/fairlead.pc.in ${PROJECT_BINARY_DIR}/fairlead.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fairlead.pc DESTINATION ${pkgconfig_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
