/*===- plugin.h - the part of MPI that the runtime uses -----------*- C -*-===*\
|*
|* Implementations of MPI differ in their headers. plugin.c is compiled with
|* those of each one, and exports this table as `zero_mpi_plugin`. The runtime
|* itself knows nothing else of MPI.
|*
\*===----------------------------------------------------------------------===*/

#ifndef RUNTIME_COMM_MPI_PLUGIN_H
#define RUNTIME_COMM_MPI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/** Increased with every change of this file. */
#define ZERO_MPI_PLUGIN_VERSION 2

/** What MPI says about this process. */
typedef struct ZeroMpiWorld {
  int process, processes;
  int manyThreads; /**< several threads may call at the same time */
  int anyThread;   /**< all threads may call, not only the one that called init */
  int largestTag;
  char library[128]; /**< name and version */
} ZeroMpiWorld;

/** A completed request. */
typedef struct ZeroMpiDone {
  int index;
  int bytes; /**< received; of a message that was sent: unspecified */
} ZeroMpiDone;

/** Functions return 0, or a code for errorText. Requests are elements of an array that the caller
    provides; MPI sets an element to a null request when it has completed. */
typedef struct ZeroMpiPlugin {
  uint32_t version;      /**< ZERO_MPI_PLUGIN_VERSION; the first member in all versions */
  uint32_t requestBytes; /**< size of an element of `requests` */

  /** Collective, once in a process. Initializes MPI if nobody else did. Messages are separate from
      those of other users of MPI. */
  int (*init)(ZeroMpiWorld *world);
  /** Collective, in the thread that called init. Finalizes MPI if init initialized it. */
  int (*finalize)(void);

  /** Start a message of at most INT_MAX bytes, with requests[index]. */
  int (*send)(const void *data, int bytes, int process, int tag, void *requests, int index);
  int (*receive)(void *data, int bytes, int process, int tag, void *requests, int index);
  /** Makes progress, and writes the requests that have completed since the last call to
      done[0 ... *completed). `done` has as many elements as `requests`. */
  int (*test)(void *requests, int count, ZeroMpiDone *done, int *completed);
  /** Lets MPI continue messages that are under way, for any thread. */
  int (*progress)(void);
  /** Cancels requests[0 ... receives), and releases all. Data of a message that has begun to arrive
      may still be written to its memory. */
  void (*drop)(void *requests, int receives, int count);

  void (*errorText)(int code, char *text, size_t bytes);
} ZeroMpiPlugin;

#endif /* RUNTIME_COMM_MPI_PLUGIN_H */
