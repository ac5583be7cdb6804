# The commit of the command, for `fairlead --version`: checked in each build and written only if it has changed, so that
# nothing else is recompiled. Without git, or outside of a clone, it is empty.
cmake_minimum_required(VERSION 3.25)
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit "")
  find_program(git git)
  if(git)
    execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH ${SOURCE} source)
    if(top)
      file(REAL_PATH ${top} top)
    endif()
    if(top STREQUAL source)  # else this is a copy inside of another project's clone
      execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
        OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
    "// Made by cmake/commit.cmake.\n#pragma once\n\nnamespace fairlead::app {\ninline constexpr const char* commit = \"@commit@\";\n}  // namespace fairlead::app\n"
    @ONLY)
  return()
endif()

# fairlead_knows_its_commit(TARGET FOLDER): generates FOLDER/fairlead/commit.hpp, first at configuration: tools that only
# parse the sources need it, too.
function(fairlead_knows_its_commit target folder)
  set(write ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${folder}/fairlead/commit.hpp
    -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake)
  execute_process(COMMAND ${write} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_target(fairlead_commit BYPRODUCTS ${folder}/fairlead/commit.hpp COMMENT "" COMMAND ${write})
  add_dependencies(${target} fairlead_commit)
endfunction()
