// See jdf_checkpoint.hpp.
#include "solver/jdf/jdf_checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <sstream>
#include <system_error>

#include "base/shared_file.hpp"
#include "front/checkpoint/checkpoint_directory.hpp"
#include "solver/factorization_checkpoint.hpp"

namespace fairlead::solver {

namespace {

constexpr const char *computation_property = "computation", *of_graph = "task graph", *tile_property = "tile";

std::string description_of(const JdfMatrix& matrix) {
  std::string text =
      fmt::format("{} x {} in {} precision, in tiles of {} x {}", matrix.rows, matrix.columns,
                  matrix.in_single ? "single" : "double", matrix.tile.rows, matrix.tile.columns);
  if (matrix.file != nullptr) text += ", of a file " + text_of(matrix.file->version());
  return text;
}

}  // namespace

front::CheckpointIdentity identity_of(const jdf::RunnableJdf& program, std::span<const JdfMatrix> matrices,
                                      const std::vector<std::string>& settings, std::int32_t tile) {
  front::CheckpointIdentity identity{
      {computation_property, of_graph},
      {"JDF file", fmt::format("a text with the hash {:016x}", text_hash(program.file.source.text()))},
      {"settings of globals and types",
       settings.empty() ? std::string("none") : fmt::format("{}", fmt::join(settings, " "))},
      {tile_property, std::to_string(tile)}};
  for (const JdfMatrix& matrix : matrices)
    identity.emplace_back("matrix " + matrix.name, description_of(matrix));
  return identity;
}

std::optional<std::int32_t> tile_in_checkpoint(const Config& config) {
  if (!config.has("checkpoint")) return std::nullopt;
  const auto found = front::CheckpointDirectory::peek(config.text("checkpoint"));
  if (!found) return std::nullopt;
  const std::string *const computation = found->find(computation_property), *const text =
                                                                                found->find(tile_property);
  std::int32_t tile = 0;
  if (computation == nullptr || *computation != of_graph || text == nullptr ||
      std::from_chars(text->data(), text->data() + text->size(), tile).ec != std::errc() || tile < 1)
    return std::nullopt;
  return tile;
}

CheckpointedState state_of(const std::shared_ptr<const jdf::RunnableJdf>& program) {
  return {.save =
              [program] {
                std::ostringstream text;
                for (const auto& value : program->pointed) text << value.load() << ' ';
                return text.str();
              },
          .restore =
              [program](const std::string& saved) {
                std::istringstream text(saved);
                std::int32_t value = 0;
                for (auto& place : program->pointed)
                  if (text >> value) place.store(value);
              }};
}

}  // namespace fairlead::solver
