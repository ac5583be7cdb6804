// See factorization_checkpoint.hpp.
#include "solver/factorization_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <complex>
#include <span>

#include "base/crc32c.hpp"
#include "base/random.hpp"
#include "data/matrix/numpy_type.hpp"
#include "front/checkpoint/checkpoint_directory.hpp"

namespace fairlead::solver {

namespace {

constexpr const char *method_property = "method", *element_property = "element type", *tile_property = "tile",
                     *order_property = "order of columns of tiles";
constexpr std::int32_t digested_per_side = 4;

std::string text_of(ElementType element) { return std::string(data::numpy_letters(element)); }

}  // namespace

FactorizationCheckpoint::FactorizationCheckpoint(const Config& config)
    : is_wanted_(config.has("checkpoint")) {
  if (is_wanted_) found_ = front::CheckpointDirectory::peek(config.text("checkpoint"));
}

SolveOptions FactorizationCheckpoint::adopted(SolveOptions options, ElementType solution) const {
  if (!found_) return options;
  const std::string *const method = found_->find(method_property), *const element =
                                                                       found_->find(element_property);
  if (method == nullptr || element == nullptr) return options;
  if (options.factor != FactorPrecision::of_solution && *element == text_of(solution))
    options.factor = FactorPrecision::of_solution;  // the attempt in lower precision was given up
  const bool has_choice = options.fallback != nullptr || options.symmetric_fallback != nullptr;
  if (!has_choice || *method == options.method->name) return options;
  const auto methods = all_methods();
  const auto former = std::ranges::find(methods, *method, [](const auto* one) { return one->name; });
  if (former == methods.end()) return options;
  options.method = *former;
  options.method_reason = "the checkpoint has this method";
  options.fallback = options.symmetric_fallback = nullptr;
  options.may_be_triangular = false;
  return options;
}

std::optional<std::int32_t> FactorizationCheckpoint::tile(const DenseOperation& method,
                                                          ElementType element) const {
  if (!found_) return std::nullopt;
  const auto has = [&](const char* property, std::string_view value) {
    const std::string* const found = found_->find(property);
    return found != nullptr && *found == value;
  };
  const std::string* const text = found_->find(tile_property);
  std::int32_t tile = 0;
  if (text == nullptr || !has(method_property, method.name) || !has(element_property, text_of(element)) ||
      std::from_chars(text->data(), text->data() + text->size(), tile).ec != std::errc() || tile < 1)
    return std::nullopt;
  return tile;
}

std::string FactorizationCheckpoint::task_order(const DenseProblem& problem) const {
  if (tile(*problem.operation, problem.element) != problem.tile) return {};
  const std::string* const order = found_->find(order_property);
  return order == nullptr ? std::string() : *order;
}

std::string text_of(const data::FileVersion& version) {
  constexpr std::int64_t nanoseconds = 1'000'000'000;
  const std::int64_t modified = version.modified_at.count();
  return fmt::format("of {} bytes, last changed {}.{:09} s after 1970", version.bytes, modified / nanoseconds,
                     modified % nanoseconds);
}

front::CheckpointIdentity identity_of(const DenseProblem& problem, const LinearSystem& system,
                                      const std::string& task_order, std::uint64_t digest) {
  const std::int64_t rows = problem.m == 0 ? problem.n : problem.m;
  front::CheckpointIdentity identity{{"computation", "factorization"},
                                     {method_property, std::string(problem.operation->name)},
                                     {element_property, text_of(problem.element)},
                                     {"shape", fmt::format("{} x {}", rows, problem.n)},
                                     {tile_property, std::to_string(problem.tile)},
                                     {"inner block", std::to_string(problem.inner_block)},
                                     {"tree", problem.tree == linalg::QrTree::flat ? "flat" : "binary"}};
  if (!task_order.empty()) identity.emplace_back(order_property, task_order);
  if (system.a != nullptr)
    if (const data::FileVersion version = system.a->version(); version != data::FileVersion{})
      identity.emplace_back("file of the matrix", text_of(version));
  identity.emplace_back("matrix", fmt::format("digest {:016x}", digest));
  return identity;
}

template <class T>
std::uint64_t digest_of_some_tiles(Flow& flow, const TiledMatrix<T>& a, Tiles which) {
  std::uint64_t digest = 0;
  const std::int32_t rows = a.tile_rows(), columns = a.tile_columns();
  const auto chosen = [](std::int32_t step, std::int32_t all) {
    return step * (all - 1) / (digested_per_side - 1);
  };
  for (std::int32_t r = 0; r < digested_per_side; ++r)
    for (std::int32_t c = 0; c < digested_per_side; ++c) {
      const std::int32_t i = chosen(r, rows), j = chosen(c, columns);
      if (which == Tiles::lower && j > i) continue;
      const auto hold = flow.acquire(read(a(i, j)));
      const In<Tile<T>> tile = hold.template get<0>();
      for (std::int32_t column = 0; column < tile.columns(); ++column) {
        const std::int32_t first = which == Tiles::lower && i == j ? column : 0;
        const std::span<const T> part(&tile(first, column), static_cast<std::size_t>(tile.rows() - first));
        digest = Random::mix(digest ^ crc32c(std::as_bytes(part)));
      }
    }
  return digest;
}

template std::uint64_t digest_of_some_tiles(Flow&, const TiledMatrix<float>&, Tiles);
template std::uint64_t digest_of_some_tiles(Flow&, const TiledMatrix<double>&, Tiles);
template std::uint64_t digest_of_some_tiles(Flow&, const TiledMatrix<std::complex<float>>&, Tiles);
template std::uint64_t digest_of_some_tiles(Flow&, const TiledMatrix<std::complex<double>>&, Tiles);

}  // namespace fairlead::solver
