// --allow-c: the C in a JDF file is built by the system's compiler, and loaded.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fairlead/subcommand.hpp"
#include "front/jdf_c/c_library.hpp"
#include "front/jdf_graph/runnable_jdf.hpp"

namespace fairlead::app {

inline constexpr Setting allow_c_setting{
    .key = "allow-c",
    .type = SettingType::flag,
    .default_value = "false",
    .help =
        "build the C in the file with the C compiler (cc, or $CC) and run it: only for files that you trust",
    .advanced = true};

/// Builds the C that the settings allow and the file needs, for use by the settings. Call it when they are
/// complete.
void allow_c(const jdf::JdfFile& file, jdf::Settings& settings, const Config& config);

/// The same with the bodies in C, for which the program has set what their globals point to; `libraries`:
/// those that they may call. Null without C.
std::shared_ptr<jdf::CLibrary> allow_c_bodies(jdf::RunnableJdf& program,
                                              const std::vector<std::string>& libraries);

}  // namespace fairlead::app
