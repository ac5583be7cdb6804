# What `cmake --install` gives: the library, its headers, and a package for find_package(fairlead).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fairlead)

install(TARGETS fairlead EXPORT fairlead_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fairlead DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.hpp")
install(EXPORT fairlead_targets NAMESPACE fairlead:: DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fairlead-config.cmake.in
  ${PROJECT_BINARY_DIR}/fairlead-config.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 the interface may change with every minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fairlead-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fairlead-config.cmake ${PROJECT_BINARY_DIR}/fairlead-config-version.cmake
        DESTINATION ${package_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
