# Builds from scratch parse the largest headers once. Builds file by file parse them in each file, which finds missing
# includes.
set(FAIRLEAD_PRECOMPILE ${FAIRLEAD_UNITY})
if(FAIRLEAD_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(fairlead_options INTERFACE -fpch-preprocess)  # needed by ccache with precompiled headers
endif()
set(precompiled_headers <algorithm> <array> <chrono> <cmath> <deque> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <random> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector> <fmt/format.h>)
