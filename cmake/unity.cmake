# Compiles files together, one folder at a time: shared headers are parsed once and shared templates instantiated once,
# which shortens builds from scratch. File-local names must then be unique in their folder. The preset dev turns this off, so
# that a change recompiles one file only.
option(FAIRLEAD_UNITY "Compile the files of a folder as one" OFF)

# In a joint compilation a name may shadow one of another file, and file-local types are invisible to other files: builds file
# by file warn of such cases.
add_library(fairlead_together INTERFACE)
target_compile_options(fairlead_together INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

# fairlead_compile_together(TARGET [LEAVE FILE...]): each folder of its files as one; the files named after LEAVE alone.
function(fairlead_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" LEAVE)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(file ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME)
    if(NOT name IN_LIST arg_LEAVE)
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fairlead_together>)
endfunction()
