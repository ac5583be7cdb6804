# fairlead_add_jdf(TARGET FILE.jdf...): compiles task graphs in the language JDF into the target. cholesky.jdf
# generates cholesky.hpp, which declares cholesky(graph, ...): docs/jdf.md. The bodies are C: the project must enable that
# language.
set(fairlead_parsec_folder "${CMAKE_CURRENT_LIST_DIR}/parsec" CACHE INTERNAL "Headers by the names that JDF files include")
function(fairlead_add_jdf target)
  if(NOT CMAKE_C_COMPILER_LOADED)
    message(FATAL_ERROR "fairlead_add_jdf(${target} ...): bodies of JDF files are C. Write project(... LANGUAGES C CXX)")
  endif()
  if(NOT TARGET fairlead::command)
    message(FATAL_ERROR "fairlead_add_jdf(${target} ...): this Fairlead was built without its command line program")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_jdf)
  file(MAKE_DIRECTORY ${folder})
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(file_folder ${path} DIRECTORY)
    get_filename_component(name ${path} NAME_WE)
    set(made ${folder}/${name}.cpp ${folder}/${name}.hpp ${folder}/${name}_bodies.c)
    add_custom_command(OUTPUT ${made}
      COMMAND fairlead::command jdf compile ${path} -o ${folder}/${name}.cpp
      DEPENDS ${path} fairlead::command COMMENT "Compiling ${name}.jdf" VERBATIM)
    target_sources(${target} PRIVATE ${made})
    # Headers next to the file are found. An unknown function is an error with its line.
    set_source_files_properties(${folder}/${name}_bodies.c PROPERTIES
      COMPILE_OPTIONS "-Werror=implicit-function-declaration" INCLUDE_DIRECTORIES "${file_folder};${fairlead_parsec_folder}"
      SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    set_source_files_properties(${folder}/${name}.cpp PROPERTIES
      SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE fairlead::fairlead)
endfunction()
