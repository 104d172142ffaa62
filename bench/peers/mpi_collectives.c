/* usage: mpirun -n RANKS mpi_collectives [ROUNDS]. Measures MPI's own collectives, as
   bench/collectives.cpp measures those of the runtime. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t most = (size_t)128 << 20;
  float *whole = aligned_alloc(1 << 21, most), *slice = aligned_alloc(1 << 21, most);
  memset(whole, 0, most);
  memset(slice, 0, most);
  double *seconds = malloc((size_t)rounds * sizeof(double));
  for (size_t bytes = (size_t)1 << 20; bytes <= most; bytes *= bytes == (size_t)1 << 20 ? 16 : 8)
    for (int gathers = 0; gathers < 2; ++gathers) {
      const int own = (int)(bytes / sizeof(float) / (size_t)ranks);
      for (int round = -2; round < rounds; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        if (gathers)
          MPI_Allgather(slice, own, MPI_FLOAT, whole, own, MPI_FLOAT, MPI_COMM_WORLD);
        else
          MPI_Reduce_scatter_block(whole, slice, own, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (round >= 0)
          seconds[round] = MPI_Wtime() - begin;
      }
      qsort(seconds, (size_t)rounds, sizeof(double), compare);
      if (rank == 0)
        printf("{\"collective\":\"%s\",\"bytes\":%zu,\"best\":%.9g,\"median\":%.9g}\n",
               gathers ? "all-gather" : "reduce-scatter", bytes, seconds[0], seconds[rounds / 2]);
    }
  MPI_Finalize();
  return 0;
}
