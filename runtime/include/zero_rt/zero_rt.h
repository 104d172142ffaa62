/*===- zero_rt.h - the C interface of the runtime -------------------*- C -*-===*\
|*                                                                            *|
|* Load a .zexe, make a session, bind data, run steps, read what came out:    *|
|*                                                                            *|
|*   zero_rt_executable *exe;                                                 *|
|*   zero_rt_session *session;                                                *|
|*   zero_rt_data *data;                                                      *|
|*   zero_rt_data_file file = {"x.npy"};                                      *|
|*   zero_rt_session_options options;                                         *|
|*   zero_rt_step_result result;                                              *|
|*   zero_rt_executable_load("model.zexe", &exe);                             *|
|*   zero_rt_session_options_default(&options);                               *|
|*   zero_rt_session_create(exe, &options, &session);                         *|
|*   zero_rt_data_create(exe, &data);                                         *|
|*   zero_rt_data_bind_file(data, "x", &file);                                *|
|*   zero_rt_session_set_data(session, data);                                 *|
|*   zero_rt_session_step(session, 0, &result);                               *|
|*   zero_rt_session_free(session);                                           *|
|*   zero_rt_data_free(data);                                                 *|
|*   zero_rt_executable_free(exe);                                            *|
|*                                                                            *|
|* Rules. Nothing here exits, throws or keeps state outside a handle. A       *|
|* handle is used by one thread at a time. Sizes are bytes unless they say    *|
|* elements. Strings and shapes handed out live as long as their handle.      *|
|* Functions that can fail return a zero_rt_status; on failure nothing is     *|
|* written through the out parameters.                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_ZERO_RT_H
#define ZERO_RT_ZERO_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- status ---------------------------------------------------------------- */

typedef enum zero_rt_code {
  ZERO_RT_OK = 0,
  ZERO_RT_INVALID_ARGUMENT, /* a call that can never be right */
  ZERO_RT_NOT_FOUND,        /* no input, output or tensor of that name */
  ZERO_RT_BAD_FILE,         /* not of the format it should be, or damaged */
  ZERO_RT_BAD_DATA,         /* data of another type or shape than the program's */
  ZERO_RT_UNSUPPORTED,      /* well-formed, but not for this runtime */
  ZERO_RT_IO,               /* the operating system refused */
  ZERO_RT_CHECK_FAILED,     /* a check inside the program found a bad value */
  ZERO_RT_NOT_FINITE,       /* the loss is NaN or infinite */
  ZERO_RT_TIMEOUT,          /* a rank did not arrive at a collective */
  ZERO_RT_ABORTED,          /* stopped because another rank failed */
  ZERO_RT_INTERNAL          /* out of memory, or a bug here */
} zero_rt_code;

/* `message` is one line, lower case, without a period; NULL when code is
   ZERO_RT_OK. The caller owns it: zero_rt_status_release(). */
typedef struct zero_rt_status {
  zero_rt_code code;
  char *message;
} zero_rt_status;

/* Frees the message and makes *status ZERO_RT_OK. */
void zero_rt_status_release(zero_rt_status *status);

/* --- types and roles: the numbers of executable.proto ------------------------ */

typedef enum zero_rt_dtype {
  ZERO_RT_NO_DTYPE = 0,
  ZERO_RT_F32 = 1,
  ZERO_RT_F64 = 2,
  ZERO_RT_F16 = 3,
  ZERO_RT_BF16 = 4,
  ZERO_RT_BOOL = 5, /* one byte an element, 0 or 1 */
  ZERO_RT_I8 = 6,
  ZERO_RT_I32 = 7,
  ZERO_RT_I64 = 8,
  ZERO_RT_U8 = 9,
  ZERO_RT_I16 = 10,
  ZERO_RT_U16 = 11,
  ZERO_RT_U32 = 12,
  ZERO_RT_U64 = 13
} zero_rt_dtype;

typedef enum zero_rt_role {
  ZERO_RT_NO_ROLE = 0,
  ZERO_RT_PARAMETER = 1,
  ZERO_RT_GRADIENT = 2,
  ZERO_RT_OPTIMIZER = 3,
  ZERO_RT_ACTIVATION = 4,
  ZERO_RT_WORKING = 5, /* gathered parameters, buckets in flight, temporaries */
  ZERO_RT_CONSTANT = 6,
  ZERO_RT_BUFFER = 7, /* running statistics: the step changes them, no optimizer does */
  ZERO_RT_ROLES = 8   /* how many numbers there are */
} zero_rt_role;

/* Where a rank's memory is. Each is an arena of its own. */
typedef enum zero_rt_tier {
  ZERO_RT_DEVICE = 0,
  ZERO_RT_HOST = 1,
  ZERO_RT_NVME = 2, /* a file on a disk */
  ZERO_RT_TIERS = 3 /* how many numbers there are */
} zero_rt_tier;

/* Bytes of one element; 0 for ZERO_RT_NO_DTYPE. */
size_t zero_rt_dtype_size(zero_rt_dtype dtype);
/* "float32". */
const char *zero_rt_dtype_name(zero_rt_dtype dtype);
/* "parameters". */
const char *zero_rt_role_name(zero_rt_role role);
/* "0.1.0". */
const char *zero_rt_version(void);

/* --- executable -------------------------------------------------------------- */

typedef struct zero_rt_executable zero_rt_executable;

typedef struct zero_rt_program_info {
  const char *name;
  const char *producer;
  const char *optimizer; /* for people */
  int ranks;
  int stage;            /* of ZeRO, 0 to 3 */
  int micro_batches;    /* per step */
  int threads_per_rank; /* of a session that is not told: what memory was planned for, or if
                           nobody planned, the usable cores over the ranks */
  float learning_rate;
  uint64_t planned_elements; /* received per rank and step, without control scalars; of ranks
                                that differ, the most */
  size_t inputs, outputs, tensors, gradients, certificates, commands;
  const char *device;               /* that it is compiled for: "cpu" or "cuda" */
  uint64_t nvme_read, nvme_written; /* bytes that each rank moves from and to its disk in a step,
                                       if it skips nothing */
} zero_rt_program_info;

typedef struct zero_rt_value_info {
  const char *name;
  zero_rt_dtype dtype;
  zero_rt_role role;     /* of a tensor or gradient, else ZERO_RT_NO_ROLE */
  const uint64_t *shape; /* of one rank for inputs and outputs, else global */
  size_t dimensions;
  int frozen; /* a parameter that training does not change */
  int saved;  /* zero_rt_session_save() writes it */
  int tokens; /* an input, batch by sequence, that chooses rows of an embedding */
  /* Of a saved tensor: its initializer in the .onnx model, "" if it has none of its own, and
   * whether that is its transpose. */
  const char *initializer;
  int transposed;
} zero_rt_value_info;

/* Memory of one tier, on each rank, as the compiler planned it. */
typedef struct zero_rt_certificate {
  const char *tier;             /* "device", "host" or "nvme" */
  uint64_t peak;                /* = the arena */
  uint64_t lower_bound;         /* largest sum of live bytes */
  const char *peak_at;          /* command at the peak */
  uint64_t most[ZERO_RT_ROLES]; /* when most of that role is live */
  uint64_t at_peak[ZERO_RT_ROLES];
} zero_rt_certificate;

/* What a command does. */
typedef enum zero_rt_command_kind {
  ZERO_RT_NATIVE = 0, /* launches a kernel of the code section */
  ZERO_RT_MATMUL,     /* ... and these of the library's */
  ZERO_RT_CONVOLUTION,
  ZERO_RT_ATTENTION,
  ZERO_RT_COPY,
  ZERO_RT_CHECK,
  ZERO_RT_TRANSFER, /* a copy between tiers */
  ZERO_RT_ALL_GATHER,
  ZERO_RT_REDUCE_SCATTER,
  ZERO_RT_ALL_REDUCE,
  ZERO_RT_BROADCAST
} zero_rt_command_kind;

/* What runs side by side: the numbers of executable.proto. */
typedef enum zero_rt_lane {
  ZERO_RT_COMPUTE = 0,
  ZERO_RT_COLLECTIVE,
  ZERO_RT_H2D, /* transfers to the device */
  ZERO_RT_D2H,
  ZERO_RT_NVME_READ,
  ZERO_RT_NVME_WRITE,
  ZERO_RT_HOST_COMPUTE,
  ZERO_RT_LANES /* how many numbers there are */
} zero_rt_lane;

/* "h2d". */
const char *zero_rt_lane_name(zero_rt_lane lane);

/* What a lane of a rank does. */
typedef struct zero_rt_lane_use {
  double seconds; /* in commands */
  uint64_t bytes; /* moved between tiers */
} zero_rt_lane_use;

/* A step that skips nothing, as the compiler expects it, of each rank. */
typedef struct zero_rt_plan {
  const char *machine; /* the name of the description that it planned for */
  double seconds;      /* of the step; reading inputs and copying outputs take nothing */
  double stalled;      /* of them, what computes waits for other lanes */
  zero_rt_lane_use lanes[ZERO_RT_LANES];
} zero_rt_plan;

/* A command of the program, the same on all ranks. */
typedef struct zero_rt_command_info {
  zero_rt_command_kind kind;
  const char *name;  /* of its kernel; "copy", "check", "all-gather", or, of a transfer, its lane */
  const char *label; /* the node of the model it came from; may be empty */
  uint64_t flops;    /* each time it runs, as the compiler counted them */
  uint64_t bytes;    /* operands read and results written; of a collective the most that
                        a rank receives, of a transfer those that it moves */
  int reorders;      /* a product that first copies B into the order that the library likes best */
  int recomputed;    /* makes again what forward has made and not kept */
  zero_rt_lane lane;
} zero_rt_command_info;

/* Reads and checks a file and loads its code. Refused by name: not a .zexe, another
   version, truncated, damaged, a CPU feature that is missing, inconsistent tables. */
zero_rt_status zero_rt_executable_load(const char *path, zero_rt_executable **executable);
/* Sessions made from it must be freed before. NULL is fine. */
void zero_rt_executable_free(zero_rt_executable *executable);

/* A file that initial values are read from; NULL when there is none of that index. */
const char *zero_rt_executable_file(const zero_rt_executable *executable, size_t index);

/* The .onnx file that it was compiled from, by absolute path; NULL when from another. */
const char *zero_rt_executable_model(const zero_rt_executable *executable);

zero_rt_status zero_rt_executable_info(const zero_rt_executable *executable,
                                       zero_rt_program_info *info);
/* Values that are bound before a step; the learning rate is not among them. */
zero_rt_status zero_rt_executable_input(const zero_rt_executable *executable, size_t index,
                                        zero_rt_value_info *info);
zero_rt_status zero_rt_executable_output(const zero_rt_executable *executable, size_t index,
                                         zero_rt_value_info *info);
zero_rt_status zero_rt_executable_tensor(const zero_rt_executable *executable, size_t index,
                                         zero_rt_value_info *info);
zero_rt_status zero_rt_executable_gradient(const zero_rt_executable *executable, size_t index,
                                           zero_rt_value_info *info);
zero_rt_status zero_rt_executable_certificate(const zero_rt_executable *executable, size_t index,
                                              zero_rt_certificate *certificate);
/* In the order in which they are listed, over all parts of the step. */
zero_rt_status zero_rt_executable_command(const zero_rt_executable *executable, size_t index,
                                          zero_rt_command_info *info);

/* Lays out what each command is expected to take, by lanes and what they wait for.
   ZERO_RT_NOT_FOUND when the file does not say. */
zero_rt_status zero_rt_executable_plan(const zero_rt_executable *executable, zero_rt_plan *plan);

/* --- data -------------------------------------------------------------------- */

/* Data of all inputs of a program, cut into batches. A sample is a row (an index of the
   first dimension) of each input; all inputs hold as many. A step takes a global batch:
   samples in their order, or shuffled; the same ones for any number of ranks, of which
   each takes the next part. What fills no global batch at the end of the data is left
   out; data smaller than one wraps round. An input with the rows of one local batch, or
   one row, where others have more, gives the same rows to every step and rank. */
typedef struct zero_rt_data zero_rt_data;

zero_rt_status zero_rt_data_create(const zero_rt_executable *executable, zero_rt_data **data);
/* NULL is fine. */
void zero_rt_data_free(zero_rt_data *data);

/* A .npy, a member of a .npz, or a file of nothing but elements. It is mapped, not read:
   it may be larger than memory, and must not be cut short while in use. */
typedef struct zero_rt_data_file {
  const char *path;
  const char *member; /* of a .npz; NULL: named INPUT or input.INPUT, or the only one */
  zero_rt_dtype raw;  /* the type of a file without header, else ZERO_RT_NO_DTYPE */
  /* For a stream, that is elements of a raw file or integers in one dimension where the
     input has more: rows are cut from it one behind the other, the first beginning at
     element `skip`; `ahead` is the largest skip of the inputs that share the stream, so
     that they have equally many rows. Tokens and their successors: 0, 1 and 1, 1. */
  uint64_t skip, ahead;
} zero_rt_data_file;

/* Binds an input. Element types widen where every value fits, as uint16 to int64 and
   float16 to float32; uint8 and bool are true unless 0. Any other difference in type or
   shape is an error. */
zero_rt_status zero_rt_data_bind_file(zero_rt_data *data, const char *input,
                                      const zero_rt_data_file *file);
/* The same for memory, which is copied. */
zero_rt_status zero_rt_data_bind_memory(zero_rt_data *data, const char *input, zero_rt_dtype dtype,
                                        const uint64_t *shape, size_t dimensions,
                                        const void *elements);
/* Each pass over the data has an order of its own, which follows from `seed` and the
   number of the pass, and takes no memory. */
zero_rt_status zero_rt_data_shuffle(zero_rt_data *data, uint64_t seed);

typedef struct zero_rt_data_info {
  uint64_t samples;
  uint64_t samples_per_step; /* the global batch */
  uint64_t steps_per_epoch;  /* 0: the data is smaller than a global batch */
} zero_rt_data_info;

/* Fails unless every input has data and all have as many samples. A step checks the
   same. */
zero_rt_status zero_rt_data_describe(zero_rt_data *data, zero_rt_data_info *info);
/* The next remark about the data ("... wraps round"), or NULL. Each comes once, after
   zero_rt_data_describe() or a step. */
const char *zero_rt_data_next_warning(zero_rt_data *data);

/* --- session ----------------------------------------------------------------- */

/* Arenas, one thread per rank and the values of all persistent tensors. After an
   error in a step a session only answers questions; steps and saves are refused. */
typedef struct zero_rt_session zero_rt_session;

typedef struct zero_rt_session_options {
  int threads_per_rank;   /* 0 (default): as zero_rt_program_info says. More than were planned
                             run if the planned memory suffices. Native kernels compute the
                             same bits with any number, the library's products need not.
                             OpenMP's threads spin for milliseconds when they wait for work,
                             unless the process was started with GOMP_SPINCOUNT=1000 or
                             OMP_WAIT_POLICY=passive */
  double timeout_seconds; /* longest wait for another rank; 120 by default */
  int allow_nan;          /* go on when the loss is NaN or infinite */
  int check_memory;       /* guard pages round the arenas; bytes that were read for the last
                             time are poisoned at once; a command that reads what nobody wrote
                             for it, or writes elsewhere, fails; the highest byte used is
                             measured */
  int pin;                /* ranks to cores: 1 yes, 0 no, -1 (default) when they fill the machine */
  int stall_rank;         /* for tests: this rank ... (-1: none) */
  int64_t stall_collective; /* ... never arrives at this collective of its first step */
  const char *device;       /* "cpu" or "cuda": refused unless the executable is compiled for it;
                               NULL (default): what it is compiled for. Only read by
                               zero_rt_session_create() */
  const char *gpus; /* "0,1,2,3": the GPU of each rank, as the driver counts them; one number: of
                       all ranks, which share it; NULL (default): "0". The same holds */
  const char *nvme_dir; /* the folder in which each rank has a file, if the program keeps anything
                           on disk: then there is no default. Files of an earlier session that
                           are not in use are replaced; all go with the session. The same holds */
  const char *nvme_io;  /* how the disk is reached: "io_uring", "threads", or, as where it is NULL
                           (default), "auto": io_uring where the kernel allows it. The same holds */
  int rank;             /* -1 (default): all ranks are threads of this process. Else it has this one
                           alone, on a GPU of its own, and each of the others has a process too. One
                           number in `gpus` is this rank's GPU */
  const char *join;     /* a file that all of them see and that is not there yet: through it they
                           find each other; rank 0 makes and removes it */
  int verbose;          /* errors about many things name them all, not the first few */
  /* Told how far a long piece of work is that a call on the session does: memory and initial
     values, weights and checkpoints that are read or written. A few times a second at most, from
     any thread but never from two at once, and once more with done == total, which may have grown
     until then. Bytes; of the ranks of this process. NULL (default): nobody is told */
  void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
  void *progress_context;
} zero_rt_session_options;

void zero_rt_session_options_default(zero_rt_session_options *options);

/* Reserves and touches the arenas and reads initial values straight into the shards.

   Where each process has one rank, all make the same calls: steps, evaluations, checkpoints
   and loads need all of them, and give each the same result. Refused by name is what is put
   together of all ranks' memory: tensors, gradients, weights to save; and questions about
   ranks of other processes. A checkpoint can be read by a session that has all ranks. */
zero_rt_status zero_rt_session_create(const zero_rt_executable *executable,
                                      const zero_rt_session_options *options,
                                      zero_rt_session **session);
/* Ends the ranks' threads. NULL is fine. The memory of a rank that never came back
   from its kernel is left to the operating system. */
void zero_rt_session_free(zero_rt_session *session);

/* The data of the steps from now on; NULL: none. It may be freed or changed between
   steps. */
zero_rt_status zero_rt_session_set_data(zero_rt_session *session, zero_rt_data *data);

/* From the next step on. ZERO_RT_NOT_FOUND when the program has no such input. */
zero_rt_status zero_rt_session_set_learning_rate(zero_rt_session *session, float rate);

/* Flags of a step. */
enum {
  ZERO_RT_KEEP_GRADIENTS = 1 /* so that they can be read after it; allocates */
};

typedef struct zero_rt_step_result {
  uint64_t step; /* from 0 */
  double loss;   /* before this step's update; NaN when the program has none */
  double seconds;
  /* Outputs of these names; NaN when the program has none and after an evaluation. The
     norm is that of the true gradients, before they are clipped. */
  double gradient_norm;
  double learning_rate; /* of this step's update */
  double loss_scale;    /* with which this step's gradients were computed */
  int skipped;          /* output "applied" is 0: the gradients overflowed, nothing was changed
                           but the loss scale */
} zero_rt_step_result;

/* Runs one step on all ranks. Errors name step and rank: ZERO_RT_CHECK_FAILED,
   ZERO_RT_NOT_FINITE, ZERO_RT_TIMEOUT (and the collective). */
zero_rt_status zero_rt_session_step(zero_rt_session *session, uint32_t flags,
                                    zero_rt_step_result *result);

/* The loss of a global batch of `data` with the weights as they are: runs what the loss
   depends on and nothing else, and changes nothing that a later step reads. Batch b are
   the samples that step b would read; it is the result's `step`. */
zero_rt_status zero_rt_session_evaluate(zero_rt_session *session, zero_rt_data *data,
                                        uint64_t batch, zero_rt_step_result *result);

/* An output of `rank` after the last step or evaluation; `bytes` must be its size. An
   evaluation computes only the loss and what it depends on. */
zero_rt_status zero_rt_session_read_output(zero_rt_session *session, const char *name, int rank,
                                           void *destination, size_t bytes);
/* A persistent tensor, whole, assembled over the ranks. The value of a parameter that is
   computed with in 16 bits is the float32 one that the optimizer keeps (its master), if it
   keeps one; zero_rt_executable_tensor() tells the type. */
zero_rt_status zero_rt_session_read_tensor(zero_rt_session *session, const char *name,
                                           void *destination, size_t bytes);
/* The gradient of a parameter, summed and before it is clipped; the last step must have
   kept it. Gradients of 16-bit floats are handed out as float32, without the loss scale. */
zero_rt_status zero_rt_session_read_gradient(zero_rt_session *session, const char *parameter,
                                             void *destination, size_t bytes);

typedef struct zero_rt_load_result {
  uint64_t taken;   /* tensors that now have the file's values */
  uint64_t missing; /* saved tensors that the file does not have; they keep theirs */
  uint64_t unknown; /* tensors of the file that the program does not save */
} zero_rt_load_result;

/* Takes values of the saved tensors by name from a .safetensors or .npz file, all or
   none; floats of another width are converted. What optimizers keep stays as it is, but
   for masters, which take the values before their parameters take them rounded.
   Tensors of another shape are an error that lists them, and so are missing and unknown
   ones unless `partial`. */
zero_rt_status zero_rt_session_load(zero_rt_session *session, const char *path, int partial,
                                    zero_rt_load_result *result);

/* Writes the trained weights (or the kept gradients) as .safetensors, by a temporary
   and a rename. Weights to a file called .onnx: the model that the program was compiled
   from, with new initializers; external data goes to FILE.data. */
zero_rt_status zero_rt_session_save(zero_rt_session *session, const char *path);
zero_rt_status zero_rt_session_save_gradients(zero_rt_session *session, const char *path);

/* Writes everything that the next step depends on to folder/step-N, N being the steps
   done: weights, buffers, optimizer state, the number of the step and the position in the
   data. All ranks write at once, each its own part. The folder is made if need be, and other
   processes cannot save there until this session is released; a generation appears by a
   rename when all of it is on disk, then all but two are removed. On failure those that
   there were stay. Refused where the folder has a later step than this session's, unless
   that was found damaged when it was loaded from there.
   docs/reference/checkpoint-format.md: the format. */
zero_rt_status zero_rt_session_save_state(zero_rt_session *session, const char *folder);

/* Flags of zero_rt_session_load_state(). */
enum {
  ZERO_RT_RESTART_DATA = 1 /* the next step reads the first batch */
};

typedef struct zero_rt_state_result {
  uint64_t step;          /* of the next step */
  uint64_t batch;         /* of the data, that it reads; 0 until the session has data */
  const char *generation; /* the folder; until the next load */
} zero_rt_state_result;

/* Goes on from a checkpoint of the same model, whatever stage, ranks, buckets and
   precision it was saved with: from the newest whole generation in the folder `path`, or
   from exactly `path` if that is a generation. All is checked before anything is changed;
   what does not fit is refused by name. ZERO_RT_NOT_FOUND: the folder has none. The data
   must have as many samples as the checkpoint's, and their order, unless it is
   restarted; where the global batch has another size it goes on with the first whole
   one of which no sample was read. A session without data looks for the place when it
   takes its next step. */
zero_rt_status zero_rt_session_load_state(zero_rt_session *session, const char *path,
                                          uint32_t flags, zero_rt_state_result *result);
/* The next remark on what was loaded (a damaged generation that was passed over, another
   precision) or saved (what could not be removed), or NULL. Each comes once. */
const char *zero_rt_session_next_remark(zero_rt_session *session);

typedef struct zero_rt_stats {
  uint64_t steps;                        /* of this session */
  uint64_t arena_bytes[ZERO_RT_TIERS];   /* by tier, as the next two */
  uint64_t measured_peak[ZERO_RT_TIERS]; /* end of the highest byte used, up to the arena's
                                            alignment; 0 without check_memory */
  uint64_t measured_live[ZERO_RT_TIERS]; /* the most bytes needed at one command; 0 without
                                            check_memory */
  uint64_t model_elements;   /* received from other ranks in all steps and evaluations */
  uint64_t control_elements; /* the same, scalars of the program */
  uint64_t model_bytes;
  uint64_t control_bytes;
  double seconds;                   /* in steps */
  uint64_t nvme_read, nvme_written; /* bytes that the last step moved from and to the disk */
  /* In all steps, of lanes that have a thread of their own, as all but compute where a program
     has transfers on CPUs; without waiting for other ranks. What computes waited for them as
     long as `stalled` says, and only a recording tells what it did. */
  zero_rt_lane_use lanes[ZERO_RT_LANES];
  double stalled; /* seconds */
} zero_rt_stats;

zero_rt_status zero_rt_session_stats(const zero_rt_session *session, int rank,
                                     zero_rt_stats *stats);

/* How a session reaches the nvme tier, and what it has done to it. */
typedef struct zero_rt_nvme_info {
  const char *queue; /* "io_uring" or "4 threads" */
  int direct;        /* past the system's cache; 0 where the file system cannot */
  uint64_t read;     /* bytes of whole blocks that all ranks have moved since the session began: */
  uint64_t written;  /* initial values, steps, evaluations, checkpoints, headers of the files */
} zero_rt_nvme_info;

/* 0 if the program keeps nothing on disk; then *info is as it was. */
int zero_rt_session_nvme(const zero_rt_session *session, zero_rt_nvme_info *info);
/* The file of `rank`; NULL if it has none. */
const char *zero_rt_session_nvme_file(const zero_rt_session *session, int rank);

/* --- profile ----------------------------------------------------------------- */

/* A command that ran on a rank. Times are nanoseconds since the recording was asked for,
   by one clock for all ranks. */
typedef struct zero_rt_event {
  uint32_t command; /* index for zero_rt_executable_command() */
  uint32_t turn;    /* the micro-batch, where its part of the program runs for each */
  uint64_t begin, end;
  uint64_t waited; /* of it, for other ranks; the rest of a collective moves and adds */
} zero_rt_event;

typedef struct zero_rt_recorded_step {
  uint64_t step;
  uint64_t begin, end; /* reading inputs and copying outputs included */
  size_t first_event, events;
} zero_rt_recorded_step;

typedef struct zero_rt_recording {
  const zero_rt_recorded_step *steps;
  size_t step_count;
  const zero_rt_event *events; /* in the order in which they began */
  int full;                    /* all steps that were asked for are there */
} zero_rt_recording;

/* Records when each command of the next `steps` steps runs, on every rank, in place of
   what was recorded before; 0 frees it. Lanes run as they do when nobody looks. Memory for all of
   them is reserved here, 32 bytes for each command. Evaluations are not recorded. */
zero_rt_status zero_rt_session_record(zero_rt_session *session, uint64_t steps);
/* What there is so far. The pointers are valid until the next zero_rt_session_record(). */
zero_rt_status zero_rt_session_recording(const zero_rt_session *session, int rank,
                                         zero_rt_recording *recording);

/* The plan of one step, as if a rank had recorded it: number 0, from time 0 on. Valid as long as
   the executable. ZERO_RT_NOT_FOUND as zero_rt_executable_plan(). */
zero_rt_status zero_rt_executable_timeline(zero_rt_executable *executable,
                                           zero_rt_recording *timeline);

/* What one rank can do at most while all ranks do the same. */
typedef struct zero_rt_machine {
  double flops;           /* a second: float32 multiply-adds in registers, two each */
  double triad_bandwidth; /* bytes a second: a[i] = b[i] + s c[i] beyond the caches */
  double copy_bandwidth;  /* bytes a second, read and written: memcpy beyond the caches */
} zero_rt_machine;

/* Measures it with the ranks, threads and cores that a session would use; takes about half
   a second and, for that time, 192 MiB of memory in all, or 48 MiB for each core where
   that is more. The mean over ranks of each one's best millisecond. */
zero_rt_status zero_rt_measure_machine(const zero_rt_executable *executable,
                                       const zero_rt_session_options *options,
                                       zero_rt_machine *machine);

typedef struct zero_rt_calibration_options {
  int ranks;               /* that measure side by side, on a core for each thread; 0
                              (default): as many as there are cores for */
  int threads_per_rank;    /* 1 by default */
  int pin;                 /* as in zero_rt_session_options */
  const char *disk_folder; /* whose disk is measured too; NULL (default): none */
} zero_rt_calibration_options;

void zero_rt_calibration_options_default(zero_rt_calibration_options *options);

/* Measures the machine that it runs on, and writes its description to `path` as JSON: limits
   as above, products of some sizes, attention, convolution, compiled loops, collectives.
   All ranks measure at once, so that what they share counts. Each figure is the mean over
   ranks of each one's best moment. Takes some seconds and memory as above, but at least 96 MiB
   for each rank; a disk half a second more for each direction, and 256 MiB for each rank
   there. */
zero_rt_status zero_rt_calibrate(const zero_rt_calibration_options *options, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_ZERO_RT_H */
