# Run with cmake -P: COMMAND, the program, writes its manual page and completions to FOLDER.
function(write file)
  execute_process(COMMAND "${COMMAND}" ${ARGN} OUTPUT_FILE "${FOLDER}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(MAKE_DIRECTORY "${FOLDER}")
write(fairlead.1 help --man)
write(fairlead completion bash)
write(_fairlead completion zsh)
write(fairlead.fish completion fish)
