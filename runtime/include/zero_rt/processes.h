/*===- processes.h - sessions of several processes ------------------*- C -*-===*\
|*                                                                            *|
|* The ranks of a program divided among the processes of a job. The rules are *|
|* those of zero_rt.h.                                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_PROCESSES_H
#define ZERO_RT_PROCESSES_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zero_rt_world is the processes of a job that train together. Each has the same number of
   ranks, as threads; zero_rt_session_options has it. */

typedef struct zero_rt_world_options {
  int process, processes; /* of this process, from 0 on, and how many there are; 0 processes
                             (default): as the launcher says that started this process (mpirun,
                             srun, torchrun, zero-run) */
  const char *meeting;    /* how they find each other: "unix:@NAME" (one machine), "tcp:HOST:PORT",
                             where process 0 listens, or "file:PATH", a file that all can access
                             and that does not exist yet. NULL (default): as the launcher says */
  const char *secret;     /* what no other user knows, of at least 16 characters: needed for
                             "tcp:HOST:PORT". NULL (default): the variable ZERO_JOB_SECRET */
  const char *interface;  /* name or address of the network interface at which process 0 listens,
                             where MPI or a file tells the others; NULL (default): the loopback if
                             the launcher says that all are on one machine, else all interfaces */
  const char *about;      /* how errors name this process: "rank 2"; NULL (default): "process N".
                             The name of its machine is added */
  double timeout_seconds; /* maximum wait for another process; 120 by default */
} zero_rt_world_options;

void zero_rt_world_options_default(zero_rt_world_options *options);

/* Meets the other processes. Collective, as are all functions with a world: all processes call them
   in the same order. *world is NULL if there is only this process. Once the processes have met, the
   failure of one of them ends the waits of all others at once. */
zero_rt_status zero_rt_world_open(const zero_rt_world_options *options, zero_rt_world **world);
/* Waits for the others, unless the job has failed. NULL is allowed. */
void zero_rt_world_close(zero_rt_world *world);

typedef struct zero_rt_world_info {
  int process, processes;
  int node, nodes;        /* processes of one node can read each other's memory */
  const char *launcher;   /* "mpirun of Open MPI" */
  uint64_t library_bytes; /* resident memory that MPI has taken in this process, measured; 0
                             without MPI */
  const char *listens_at; /* process 0: where it listens in a network, as "all interfaces, port
                             61440"; else empty. Valid as long as the world */
} zero_rt_world_info;

void zero_rt_world_describe(const zero_rt_world *world, zero_rt_world_info *info);

/* Tells all other processes that this one cannot go on, and why. Their calls fail with this
   reason. */
void zero_rt_world_fail(zero_rt_world *world, const char *reason);

/* Hands the file at `path` of process 0 to all nodes. *shared: where this process can read it,
   valid as long as the world. */
zero_rt_status zero_rt_world_share(zero_rt_world *world, const char *path, const char **shared);

/* Processes other than 0: answers process 0, which reads values of their ranks, until that calls
   zero_rt_session_end_service(). Returns at once if all ranks are in one process. */
zero_rt_status zero_rt_session_serve(zero_rt_session *session);
zero_rt_status zero_rt_session_end_service(zero_rt_session *session);

/* Whether any process gives a number other than 0: for a decision that all must make alike. Needs
   all ranks, as a step. */
zero_rt_status zero_rt_session_any(zero_rt_session *session, int mine, int *any);

/* Checkpoints. zero_rt_session_load_state() takes the newest that all processes find at their path,
   of the same save, and each process needs the files that its ranks read. So `path` may be another
   folder on each node. With `local_state` of zero_rt_session_options, so may the folder of
   zero_rt_session_save_state(): each node saves there the parts of its ranks. */

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_PROCESSES_H */
