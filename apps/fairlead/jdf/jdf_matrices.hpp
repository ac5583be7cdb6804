// The matrices of `fairlead jdf run` and `fairlead simulate jdf`: in files, or described by their sizes.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/matrix/stored_matrix.hpp"
#include "fairlead/subcommand.hpp"
#include "front/jdf_graph/runnable_jdf.hpp"
#include "solver/jdf/jdf_steps.hpp"

namespace fairlead::app {

using solver::JdfMatrix;

/// The lines of a repeatable setting.
std::vector<std::string> lines_of(const Config& config, std::string_view key);

/// The global of that name, or with "desc" before it. Throws ConfigError naming the nearest.
std::uint32_t global_of(const jdf::JdfFile& file, std::string_view name, std::string_view option);

/// The files of matrices.
using FilesAt = std::function<std::vector<std::shared_ptr<const data::StoredMatrix>>(
    const std::vector<std::string>& paths)>;

/// Reads --matrix NAME=FILE.npy and NAME=M,N,MB,NB. `in_single`: the type of described ones; `files_at` is
/// called once, if this process does not open files itself. Throws ConfigError, and InputError for files that
/// cannot be used.
std::vector<JdfMatrix> matrices_given(const jdf::JdfFile& file, const Config& config, bool in_single,
                                      const FilesAt& files_at = nullptr);

/// Applies --tiles ROWSxCOLUMNS and --tiles NAME=ROWSxCOLUMNS. Throws ConfigError.
void set_tiles(const jdf::JdfFile& file, const Config& config, std::vector<JdfMatrix>& given);

/// Applies --output NAME=FILE.npy. Throws ConfigError.
void add_outputs(const jdf::JdfFile& file, const Config& config, std::vector<JdfMatrix>& given);

/// Throws InputError that names all matrices that the file uses and no --matrix gives.
void require_all_given(const jdf::JdfFile& file, const std::vector<JdfMatrix>& given);

enum class Bodies : std::uint8_t { interpreted, may_be_c };
/// Prints the errors of the file, if `prints` is set. Null if the file cannot be used.
std::shared_ptr<jdf::RunnableJdf> read_program(jdf::SourceFile source, Bodies bodies, bool prints = true);

/// Sets the globals by --matrix and --set, when tiles have been chosen.
void settle(jdf::RunnableJdf& program, const std::vector<JdfMatrix>& given, const Config& config);

/// The types of dependencies by --type NAME=PART, and the predefined ones. Throws ConfigError.
jdf::Types types_given(const jdf::JdfFile& file, const Config& config);

inline constexpr Setting type_setting{
    .key = "type",
    .value_name = "NAME=PART",
    .help =
        "part of a tile that dependencies of this type send to another rank: full, lower, upper, "
        "strictly_lower or strictly_upper, which are also predefined types; repeatable",
    .repeatable = true};

}  // namespace fairlead::app
