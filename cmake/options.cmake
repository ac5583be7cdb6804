# Flags that every target of Fairlead is compiled with; users of the installed library do not get them.
add_library(fairlead_options INTERFACE)
target_compile_options(fairlead_options INTERFACE
  # Cheap checks of what must hold inside stay on in every build.
  -UNDEBUG
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # False alarms inside the library's strings and fmt, at -O3 (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>
  # Decisions must come out the same in every build: no fused operations that change the last bit.
  -ffp-contract=off)
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
  # The manual of GCC: sanitizers raise the rate of false alarms of this warning. Builds without them keep it.
  target_compile_options(fairlead_options INTERFACE -Wno-maybe-uninitialized)
  if(FAIRLEAD_SANITIZE MATCHES "undefined")
    target_compile_options(fairlead_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
  if(FAIRLEAD_SANITIZE MATCHES "thread")
    # gcc warns of fences that ThreadSanitizer cannot see; a fence must therefore be an error.
    target_compile_options(fairlead_options INTERFACE -Wtsan)
  endif()
endif()
# What a thread's forced end is caught as is no object: the reference is to nothing, as the compiler makes it.
if(FAIRLEAD_SANITIZE MATCHES "undefined")
  set_source_files_properties(src/backend/cpu/worker_threads.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=null)
endif()
