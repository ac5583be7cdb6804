# The headers of a user's policy: policy/plugin.hpp and all its includes, here and among the public headers. A plug-in (docs/writing-a-policy.md) and the program that loads it must have been compiled with the same
# ones: their hash is compiled into both.
set(policy_interface_headers "")  # those in src/
set(policy_interface_files "")    # all
set(unread policy/plugin.hpp)
while(unread)
  list(POP_FRONT unread header)
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${header})
    set(file ${PROJECT_SOURCE_DIR}/src/${header})
    list(APPEND policy_interface_headers ${header})
  elseif(EXISTS ${PROJECT_SOURCE_DIR}/include/${header})
    set(file ${PROJECT_SOURCE_DIR}/include/${header})
  else()
    continue()  # generated below
  endif()
  if(NOT file IN_LIST policy_interface_files)
    list(APPEND policy_interface_files ${file})
    file(STRINGS ${file} lines REGEX "^#include [<\"][a-z_]+/[a-z_/]+\\.hpp[>\"]")
    list(TRANSFORM lines REPLACE "^#include [<\"]([a-z_/]+\\.hpp).*$" "\\1")
    list(APPEND unread ${lines})
  endif()
endwhile()
list(REMOVE_DUPLICATES policy_interface_headers)

set(texts "")
list(SORT policy_interface_files)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${policy_interface_files})
foreach(file ${policy_interface_files})
  file(SHA256 ${file} hash)
  string(APPEND texts ${hash})
endforeach()
string(SHA256 hash "${texts}")
string(SUBSTRING ${hash} 0 16 hash)
set(policy_interface_folder ${PROJECT_BINARY_DIR}/policy_interface)
file(CONFIGURE OUTPUT ${policy_interface_folder}/policy/interface_hash.hpp CONTENT [[
// Made by cmake/policy_interface.cmake of the headers that a policy includes.
#pragma once
#include <cstdint>

namespace fairlead {

inline constexpr std::uint64_t interface_hash = 0x@hash@u;
inline constexpr const char* interface_version = "@PROJECT_VERSION@";

}  // namespace fairlead
]] @ONLY)
