# Flags that every target of Fairlead is compiled with; users of the installed library do not get them.
add_library(fairlead_options INTERFACE)
target_compile_options(fairlead_options INTERFACE
  # Cheap checks of what must hold inside stay on in every build.
  -UNDEBUG
  # At -O3 gcc 12 sees overlaps in joined std::strings and overflows in fmt that are not there (its bug 105651).
  -Wall -Wextra -Wno-restrict -Wno-stringop-overflow -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # Decisions must come out the same in every build: no fused operations that change the last bit.
  -ffp-contract=off)
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
  if(FAIRLEAD_SANITIZE MATCHES "undefined")
    target_compile_options(fairlead_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
  if(FAIRLEAD_SANITIZE MATCHES "thread")
    # gcc warns of fences that ThreadSanitizer cannot see; a fence must therefore be an error.
    target_compile_options(fairlead_options INTERFACE -Wtsan)
  endif()
endif()
