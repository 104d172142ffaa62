/* Looks like a library of MPI, and like a plugin of another version of Zero. */

int MPI_Init_thread(void) { return 0; }

const unsigned zero_mpi_plugin[2] = {999, 8};
