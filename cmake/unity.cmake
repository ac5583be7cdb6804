# Files compiled together, a folder at a time: a header that all of them include is read once, and a template that several
# use is made once, which divides the time that a build from nothing takes. Where it is on, a name that a file keeps to
# itself must be its folder's only one. The preset dev leaves it off: what one file's change costs is then that file.
option(FAIRLEAD_UNITY "Compile the files of a folder as one" OFF)

# One file's constant is not the variable of that name in another, and what a file keeps to itself is not seen by others:
# builds file by file warn of what is meant.
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
