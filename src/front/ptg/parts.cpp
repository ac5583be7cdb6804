// Parts of tiles: those on edges, repacking, and memory layouts.
#include "front/ptg/parts.hpp"

#include <fairlead/error.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/names.hpp"

namespace fairlead::ptg {

std::optional<Part> part_between(const ClassDefinition& giver, const FlowDefinition& flow,
                                 const Alternative& output, const FlowDefinition& taker) {
  std::optional<Part> part = output.part;
  for (const Alternative& input : taker.inputs) {
    if (input.place.kind != Place::Kind::task || input.place.task.lock().get() != &giver ||
        input.place.flow != flow.name || !input.part)
      continue;
    if (part && *part != *input.part) return std::nullopt;
    part = input.part;
  }
  return part.value_or(Part{});
}

namespace {
/// Calls move(row, column, to_row, to_column) for the elements of both parts in column-major order, pairwise. Returns
/// false if the numbers of elements differ; some pairs were visited then.
template <class Move>
bool each_recut(const Part& from, const Part& to, std::int32_t rows, std::int32_t columns, Move&& move) {
  std::int32_t to_column = -1;
  Part::Rows into;
  const auto find_place = [&] {
    while (into.first >= into.end && ++to_column < columns) into = to.rows_of(to_column, rows);
    return to_column < columns;
  };
  for (std::int32_t column = 0; column < columns; ++column)
    for (Part::Rows some = from.rows_of(column, rows); some.first < some.end; ++some.first) {
      if (!find_place()) return false;
      move(some.first, column, into.first++, to_column);
    }
  return !find_place();
}
}  // namespace

void detail::recut(const Recut& how, const PartOf& tile, const void* from, std::size_t from_column_bytes,
                   void* to, std::size_t to_column_bytes) {
  const auto in = [&](auto* memory, std::size_t column_bytes, std::int32_t i, std::int32_t j) {
    return memory + static_cast<std::size_t>(j) * column_bytes +
           static_cast<std::size_t>(i) * tile.element_bytes;
  };
  auto* const into = static_cast<std::byte*>(to);
  for (std::int32_t j = 0; j < tile.columns; ++j)
    std::memset(in(into, to_column_bytes, 0, j), 0, static_cast<std::size_t>(tile.rows) * tile.element_bytes);
  if (!each_recut(how.given, how.taken, tile.rows, tile.columns,
                  [&](std::int32_t i, std::int32_t j, std::int32_t to_i, std::int32_t to_j) {
                    std::memcpy(in(into, to_column_bytes, to_i, to_j),
                                in(static_cast<const std::byte*>(from), from_column_bytes, i, j),
                                tile.element_bytes);
                  }))
    throw UsageError(
        fmt::format("{}: of a tile of {} x {} elements the ends of this edge use parts with different "
                    "numbers of elements",
                    how.edge, tile.rows, tile.columns));
}

bool find_parts(TableClass& of) {
  for (std::size_t k = 0; k < of.flows.size(); ++k)
    for (const ClassEdge& edge : of.flows[k].edges) {
      const std::pair part(static_cast<std::uint16_t>(k), edge.part);
      if (!edge.part.is_all() && std::ranges::find(of.parts, part) == of.parts.end())
        of.parts.push_back(part);
    }
  return of.parts.empty() || of.flows.size() + of.parts.size() <= net::most_outputs;
}

net::ValueLayout layout_within(const PartOf& tile, const Part& part) {
  const Bytes element = tile.element_bytes, column = static_cast<Bytes>(tile.rows) * element;
  net::ValueLayout layout{.most = static_cast<std::int64_t>(column)};
  const std::int32_t off = part.diagonal ? 0 : 1;
  switch (part.kind) {
    case Part::Kind::lower:
      layout.pieces = static_cast<std::uint32_t>(std::max(0, std::min(tile.columns, tile.rows - off)));
      layout.start = static_cast<Bytes>(off) * element;
      layout.step = column + element;
      layout.length = static_cast<std::int64_t>(column - layout.start);
      layout.growth = -static_cast<std::int64_t>(element);
      break;
    case Part::Kind::upper:
      layout.pieces = static_cast<std::uint32_t>(std::max(0, tile.columns - off));
      layout.start = static_cast<Bytes>(off) * column;
      layout.step = column;
      layout.length = static_cast<std::int64_t>(element);
      layout.growth = static_cast<std::int64_t>(element);
      break;
    default: {
      const Part::Rows rows = part.rows_of(part.first_column, tile.rows);
      const std::int64_t reach = std::int64_t{tile.columns} - part.first_column;
      const std::int64_t columns =
          std::min<std::int64_t>(part.columns, (reach + part.column_step - 1) / part.column_step);
      if (rows.end <= rows.first || columns <= 0) break;
      layout.pieces = static_cast<std::uint32_t>(columns);
      layout.start =
          static_cast<Bytes>(part.first_column) * column + static_cast<Bytes>(rows.first) * element;
      layout.step = static_cast<Bytes>(part.column_step) * column;
      layout.length = static_cast<std::int64_t>(rows.end - rows.first) * static_cast<std::int64_t>(element);
    }
  }
  return layout.bytes() == 0 ? net::ValueLayout{} : layout;
}

}  // namespace fairlead::ptg
