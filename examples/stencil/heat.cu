// The kernels of main.cpp for CUDA devices. A patch is a tile with a border of cells around it, column-major; rows and
// columns count from the tile's corner, and are negative or beyond the tile in the border. A thread block processes
// whole columns, so the kernels work with any number of blocks and threads.

namespace {

struct Part {
  int begin, step;
};
__device__ Part of_columns() { return {static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x)}; }
__device__ Part of_rows() { return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)}; }

}  // namespace

/// Sets the patch to 0, the value outside the plate.
extern "C" __global__ void heat_clear(double* patch, int rows, int columns) {
  const Part r = of_rows(), c = of_columns();
  for (long long j = c.begin; j < columns; j += c.step)
    for (int i = r.begin; i < rows; i += r.step) patch[i + j * rows] = 0;
}

/// Copies a tile, whose corner is at (row, column), into the patch, as far as it overlaps.
extern "C" __global__ void heat_fill(double* patch, int rows, int columns, int border, const double* tile, int tile_rows,
                                     int tile_columns, int row, int column) {
  const Part r = of_rows(), c = of_columns();
  for (long long j = c.begin; j < tile_columns; j += c.step)
    for (int i = r.begin; i < tile_rows; i += r.step) {
      const long long to_row = i + row + border, to_column = j + column + border;
      if (to_row >= 0 && to_row < rows && to_column >= 0 && to_column < columns)
        patch[to_row + to_column * rows] = tile[i + j * tile_rows];
    }
}

/// One step, after `done` others, on the cells of the patch that are still valid; the last four arguments are the
/// extent of the plate.
extern "C" __global__ void heat_step(const double* now, double* next, int rows, int columns, int border, int done, int first_row,
                                     int last_row, int first_column, int last_column) {
  const Part r = of_rows(), c = of_columns();
  for (long long j = done + 1 + c.begin; j < columns - done - 1; j += c.step)
    for (int i = done + 1 + r.begin; i < rows - done - 1; i += r.step) {
      const long long row = i - border, column = j - border;
      const bool inside = row >= first_row && row < last_row && column >= first_column && column < last_column;
      const double* const at = now + i + j * rows;
      next[i + j * rows] = inside ? 0.25 * ((at[-1] + at[1]) + (at[-rows] + at[rows])) : 0;
    }
}

/// Copies the tile out of its patch.
extern "C" __global__ void heat_take(const double* patch, int rows, int border, double* tile, int tile_rows, int tile_columns) {
  const Part r = of_rows(), c = of_columns();
  for (long long j = c.begin; j < tile_columns; j += c.step)
    for (int i = r.begin; i < tile_rows; i += r.step)
      tile[i + j * tile_rows] = patch[i + border + (j + border) * rows];
}
