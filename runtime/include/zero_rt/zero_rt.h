/*===- zero_rt.h - the C interface of the runtime -------------------*- C -*-===*\
|*                                                                            *|
|* Load a .zexe, create a session, bind data, run steps, read the results.    *|
|* docs/reference/c-api.md has an example.                                    *|
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
  ZERO_RT_INVALID_ARGUMENT, /* a call that is always wrong */
  ZERO_RT_NOT_FOUND,        /* no input, output or tensor of that name */
  ZERO_RT_BAD_FILE,         /* another format than expected, or damaged */
  ZERO_RT_BAD_DATA,         /* data of another type or shape than the program's */
  ZERO_RT_UNSUPPORTED,      /* well-formed, but not supported by this runtime */
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

/* Frees the message and sets *status to ZERO_RT_OK. */
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
  ZERO_RT_ROLES = 8   /* number of values */
} zero_rt_role;

/* The tier of a rank's memory. Each has a separate arena. */
typedef enum zero_rt_tier {
  ZERO_RT_DEVICE = 0,
  ZERO_RT_HOST = 1,
  ZERO_RT_NVME = 2, /* a file on a disk */
  ZERO_RT_TIERS = 3 /* number of values */
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
  const char *optimizer; /* for messages */
  int ranks;
  int stage;            /* of ZeRO, 0 to 3 */
  int micro_batches;    /* per step */
  int threads_per_rank; /* default of a session: the number that memory was planned for, or,
                           without a plan, the usable cores divided by the ranks */
  float learning_rate;
  uint64_t planned_elements; /* received per rank and step, without control scalars; the
                                maximum over ranks */
  size_t inputs, outputs, tensors, gradients, certificates, commands;
  const char *device;               /* target of compilation: "cpu" or "cuda" */
  uint64_t nvme_read, nvme_written; /* bytes that each rank reads from and writes to its disk in
                                       a step that is not skipped */
} zero_rt_program_info;

typedef struct zero_rt_value_info {
  const char *name;
  zero_rt_dtype dtype;
  zero_rt_role role;     /* of a tensor or gradient, else ZERO_RT_NO_ROLE */
  const uint64_t *shape; /* of one rank for inputs and outputs, else global */
  size_t dimensions;
  int frozen; /* a parameter that training does not change */
  int saved;  /* zero_rt_session_save() writes it */
  int tokens; /* an input, batch x sequence, that selects rows of an embedding */
  /* For a saved tensor: its initializer in the .onnx model, "" if it has no separate one, and
   * whether the initializer is its transpose. */
  const char *initializer;
  int transposed;
  int in_model; /* a saved tensor is written to an .onnx model, too; optimizer state may not be */
  zero_rt_dtype stored; /* of the values in a file that it begins with, if it does */
} zero_rt_value_info;

/* Memory of one tier, on each rank, as the compiler planned it. */
typedef struct zero_rt_certificate {
  const char *tier;             /* "device", "host" or "nvme" */
  uint64_t peak;                /* the size of the arena */
  uint64_t lower_bound;         /* largest sum of live bytes */
  const char *peak_at;          /* command at the peak */
  uint64_t most[ZERO_RT_ROLES]; /* maximum of the live bytes of that role */
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

/* Lanes run in parallel. The numbers are those of executable.proto. */
typedef enum zero_rt_lane {
  ZERO_RT_COMPUTE = 0,
  ZERO_RT_COLLECTIVE,
  ZERO_RT_H2D, /* transfers to the device */
  ZERO_RT_D2H,
  ZERO_RT_NVME_READ,
  ZERO_RT_NVME_WRITE,
  ZERO_RT_HOST_COMPUTE,
  ZERO_RT_LANES /* number of values */
} zero_rt_lane;

/* "h2d". */
const char *zero_rt_lane_name(zero_rt_lane lane);

/* The work of a lane of a rank. */
typedef struct zero_rt_lane_use {
  double seconds; /* in commands */
  uint64_t bytes; /* moved between tiers */
} zero_rt_lane_use;

/* The compiler's estimate of a step that is not skipped, for each rank. */
typedef struct zero_rt_plan {
  const char *machine; /* name of the machine description of the plan */
  double seconds;      /* of the step, without reading inputs and copying outputs */
  double stalled;      /* of these, time that compute waits for other lanes */
  zero_rt_lane_use lanes[ZERO_RT_LANES];
} zero_rt_plan;

/* A command of the program, the same on all ranks. */
typedef struct zero_rt_command_info {
  zero_rt_command_kind kind;
  const char *name;  /* of its kernel; "copy", "check", "all-gather", or, of a transfer, its lane */
  const char *label; /* the node of the model it came from; may be empty */
  uint64_t flops;    /* per execution, as counted by the compiler */
  uint64_t bytes;    /* operands read and results written; of a collective the maximum
                        that a rank receives, of a transfer the bytes that it copies */
  int reorders;      /* a product that first copies B into the layout that the library chooses */
  int recomputed;    /* recomputes values that forward did not save */
  zero_rt_lane lane;
  int halves;       /* a library call that multiplies 16-bit operands as they are stored */
  const char *axis; /* of a collective along one of several axes of the mesh; else NULL */
} zero_rt_command_info;

/* Reads and checks a file and loads its code. An error names the reason: not a .zexe,
   another version, truncated, damaged, a missing CPU feature, inconsistent tables. */
zero_rt_status zero_rt_executable_load(const char *path, zero_rt_executable **executable);
/* Sessions created from it must be freed first. NULL is allowed. */
void zero_rt_executable_free(zero_rt_executable *executable);

/* A file that initial values are read from; NULL if there is none of that index. */
const char *zero_rt_executable_file(const zero_rt_executable *executable, size_t index);

/* Absolute path of the .onnx file or config.json it was compiled from; NULL for other formats. */
const char *zero_rt_executable_model(const zero_rt_executable *executable);
/* The number of the training_info of this file that the program is; -1 if it is none. */
int zero_rt_executable_training_info(const zero_rt_executable *executable);

/* Absolute path of the checkpoint of onnxruntime-training with its initial values, or NULL. */
const char *zero_rt_executable_ort_checkpoint(const zero_rt_executable *executable);

zero_rt_status zero_rt_executable_info(const zero_rt_executable *executable,
                                       zero_rt_program_info *info);
/* Values that are bound before a step, without the learning rate. */
zero_rt_status zero_rt_executable_input(const zero_rt_executable *executable, size_t index,
                                        zero_rt_value_info *info);
zero_rt_status zero_rt_executable_output(const zero_rt_executable *executable, size_t index,
                                         zero_rt_value_info *info);
zero_rt_status zero_rt_executable_tensor(const zero_rt_executable *executable, size_t index,
                                         zero_rt_value_info *info);
/* A further name of the tied tensor of index `tensor`, under which a file of weights may have it;
   NULL if there is none of that index. */
const char *zero_rt_executable_alias(const zero_rt_executable *executable, size_t tensor,
                                     size_t index);
zero_rt_status zero_rt_executable_gradient(const zero_rt_executable *executable, size_t index,
                                           zero_rt_value_info *info);
zero_rt_status zero_rt_executable_certificate(const zero_rt_executable *executable, size_t index,
                                              zero_rt_certificate *certificate);
/* In program order, over all segments of the step. */
zero_rt_status zero_rt_executable_command(const zero_rt_executable *executable, size_t index,
                                          zero_rt_command_info *info);

/* Simulates the step from the estimated times of its commands, their lanes and waits.
   ZERO_RT_NOT_FOUND if the file has no estimates. */
zero_rt_status zero_rt_executable_plan(const zero_rt_executable *executable, zero_rt_plan *plan);

/* --- data -------------------------------------------------------------------- */

/* Data of all inputs of a program, divided into batches. A sample is a row (an index of the
   first dimension) of each input; all inputs have the same number of rows. A step reads a
   global batch: samples in their order, or shuffled. The samples are the same for any number
   of ranks, and each rank reads the next part. An incomplete global batch at the end of the
   data is omitted. If the data is smaller than a global batch, samples are repeated within
   it. If an input has the rows of one local batch, or one row, and other inputs have more,
   every step and rank reads the same rows of it. */
typedef struct zero_rt_data zero_rt_data;

zero_rt_status zero_rt_data_create(const zero_rt_executable *executable, zero_rt_data **data);
/* NULL is allowed. */
void zero_rt_data_free(zero_rt_data *data);

/* A .npy, a member of a .npz, or a file of elements only. It is mapped, not read: it may be
   larger than memory, and must not be truncated while in use. */
typedef struct zero_rt_data_file {
  const char *path;
  const char *member; /* of a .npz; NULL: named INPUT or input.INPUT, or the only one */
  zero_rt_dtype raw;  /* the type of a file without header, else ZERO_RT_NO_DTYPE */
  /* For a stream, which is a raw file, or integers in one dimension where the input has more:
     it is divided into consecutive rows from element `skip` on. `ahead` is the largest skip of
     the inputs that share the stream, so that they have the same number of rows. Tokens and
     their successors: 0, 1 and 1, 1. */
  uint64_t skip, ahead;
} zero_rt_data_file;

/* Binds an input. Element types are converted if every value fits, such as uint16 to int64
   and float16 to float32; for uint8 and bool every value except 0 is true. Any other
   difference in type or shape is an error. */
zero_rt_status zero_rt_data_bind_file(zero_rt_data *data, const char *input,
                                      const zero_rt_data_file *file);
/* The same for memory, which is copied. */
zero_rt_status zero_rt_data_bind_memory(zero_rt_data *data, const char *input, zero_rt_dtype dtype,
                                        const uint64_t *shape, size_t dimensions,
                                        const void *elements);
/* The same without a copy: `elements` must stay valid while the data is bound or a session has it
   set. */
zero_rt_status zero_rt_data_bind_view(zero_rt_data *data, const char *input, zero_rt_dtype dtype,
                                      const uint64_t *shape, size_t dimensions,
                                      const void *elements);
/* Shuffles: each epoch has its own order, computed from `seed` and the number of the
   epoch, without memory. */
zero_rt_status zero_rt_data_shuffle(zero_rt_data *data, uint64_t seed);

typedef struct zero_rt_data_info {
  uint64_t samples;
  uint64_t samples_per_step; /* the global batch */
  uint64_t steps_per_epoch;  /* 0: the data is smaller than a global batch */
  uint64_t last_samples;     /* of the last batch of an epoch, if it has fewer; else 0 */
} zero_rt_data_info;

/* Fails unless every input has data and all have the same number of samples. A step checks
   the same. */
zero_rt_status zero_rt_data_describe(zero_rt_data *data, zero_rt_data_info *info);
/* The next warning about the data ("... samples are repeated within a batch"), or NULL. Each
   is returned once, after zero_rt_data_describe() or a step. */
const char *zero_rt_data_next_warning(zero_rt_data *data);

typedef struct zero_rt_world zero_rt_world; /* processes of a job: zero_rt/processes.h */
/* --- session ----------------------------------------------------------------- */

/* Arenas, one thread per rank and the values of all persistent tensors. After an error in a
   step a session can only be queried; steps and saves are errors. */
typedef struct zero_rt_session zero_rt_session;

typedef struct zero_rt_session_options {
  int threads_per_rank;   /* 0 (default): as in zero_rt_program_info. More than were planned
                             run if the planned memory suffices. Results of native kernels are
                             bitwise identical for any number, those of library products may
                             differ. OpenMP threads spin for milliseconds when they wait for
                             work, unless the process was started with GOMP_SPINCOUNT=1000 or
                             OMP_WAIT_POLICY=passive */
  double timeout_seconds; /* maximum wait for another rank; 120 by default */
  int allow_nan;          /* continue when the loss is NaN or infinite */
  int check_memory;       /* guard pages around the arenas; bytes are poisoned after their last
                             read; a command that reads a value that was not written for it, or
                             writes outside of its operands, fails; the highest byte used is
                             measured */
  int pin;                /* bind ranks to cores: 1 yes, 0 no, -1 (default) if they use all cores */
  int stall_rank;         /* for tests: this rank ... (-1: none) */
  int64_t stall_collective; /* ... never reaches this collective of its first step */
  /* Strings and `world` are only read by zero_rt_session_create(). */
  const char *device;   /* "cpu" or "cuda": an error unless the executable is compiled for it; NULL
                           (default): the target of compilation */
  const char *gpus;     /* "0,1,2,3": the GPU of each rank, as numbered by the driver; one number:
                           the GPU of all ranks; NULL (default): "0" */
  const char *nvme_dir; /* "DIR" or "DIR,DIR,...": directories with a file for each rank, one on
                           each drive, required if the program stores anything on disk. Files of an
                           earlier session that are not in use are replaced; all end with it */
  const char *nvme_io;  /* how the disk is accessed: "io_uring", "threads", or "auto" or NULL
                           (default): io_uring if possible */
  zero_rt_world *world; /* NULL (default): all ranks are threads of this process. Else they are
                           divided among its processes, in order; the session must be freed first.
                           On GPUs each process has one rank, and one number in `gpus` is its GPU */
  int local_state;      /* each node saves its state to a folder of its own: zero_rt/processes.h */
  int verbose;          /* errors list all items, not only the first few */
  int gpu_graphs; /* launch commands on a GPU as CUDA graphs where possible: 1 (default), or 0 */
  const char *gpu_algorithms; /* a file with algorithms of matrix products on GPUs, of process 0 for
                                 all ranks; those that it lacks are timed and added. "auto": see
                                 zero-run. NULL (default): what cuBLASLt expects to be fastest */
  /* Called with the progress of long work in a call on the session: memory and initial values,
     weights and checkpoints that are read or written. At most a few times per second, from any
     thread but never from two at once, and once more with done == total; total may have grown
     until then. In bytes, for the ranks of this process. NULL (default): not called */
  void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
  void *progress_context;
} zero_rt_session_options;

void zero_rt_session_options_default(zero_rt_session_options *options);

/* Reserves and touches the arenas and reads initial values straight into the shards. NULL options
   are the defaults.

   If ranks are in several processes, all processes make the same calls: steps, evaluations,
   checkpoints and loads need all ranks, and return the same result to each. What is assembled from
   the memory of all ranks, as tensors, gradients and weights to save, and what belongs to one rank,
   as outputs and stats, is for process 0, while the others are in zero_rt_session_serve(). */
zero_rt_status zero_rt_session_create(const zero_rt_executable *executable,
                                      const zero_rt_session_options *options,
                                      zero_rt_session **session);
/* Ends the threads of the ranks. NULL is allowed. The memory of a rank whose kernel did not
   return is left to the operating system. */
void zero_rt_session_free(zero_rt_session *session);

/* Sets the data of the following steps; NULL: none. It may be freed or changed between steps. */
zero_rt_status zero_rt_session_set_data(zero_rt_session *session, zero_rt_data *data);

/* From the next step on. ZERO_RT_NOT_FOUND if the program has no such input. */
zero_rt_status zero_rt_session_set_learning_rate(zero_rt_session *session, float rate);

/* Flags of a step. */
enum {
  ZERO_RT_KEEP_GRADIENTS = 1 /* keep gradients readable, in an unnamed file of $TMPDIR or /tmp */
};

typedef struct zero_rt_step_result {
  uint64_t step; /* from 0 */
  double loss;   /* before this step's update; NaN when the program has none */
  double seconds;
  /* Outputs of these names; NaN if the program has none, and after an evaluation. The norm is
     that of the unscaled gradients, before they are clipped. */
  double gradient_norm;
  double learning_rate; /* of this step's update */
  double loss_scale;    /* scale of this step's gradients */
  int skipped;          /* output "applied" is 0: the gradients overflowed, and only the loss scale
                           was changed */
} zero_rt_step_result;

/* Runs one step on all ranks. Errors name step and rank: ZERO_RT_CHECK_FAILED,
   ZERO_RT_NOT_FINITE, ZERO_RT_TIMEOUT (and the collective). */
zero_rt_status zero_rt_session_step(zero_rt_session *session, uint32_t flags,
                                    zero_rt_step_result *result);

/* The loss of a global batch of `data` with the current weights: runs only the commands that
   the loss depends on, and changes nothing that a later step reads. Batch b has the samples
   that step b would read; it is the `step` of the result. */
zero_rt_status zero_rt_session_evaluate(zero_rt_session *session, zero_rt_data *data,
                                        uint64_t batch, zero_rt_step_result *result);

/* An output of `rank` after the last step or evaluation; `bytes` must be its size. An
   evaluation computes only the loss and what it depends on. */
zero_rt_status zero_rt_session_read_output(zero_rt_session *session, const char *name, int rank,
                                           void *destination, size_t bytes);
/* A complete persistent tensor, assembled over the ranks. The value of a parameter of 16 bits
   is its float32 master copy in the optimizer state, if there is one;
   zero_rt_executable_tensor() returns the type. */
zero_rt_status zero_rt_session_read_tensor(zero_rt_session *session, const char *name,
                                           void *destination, size_t bytes);
/* The gradient of a parameter, summed over ranks and before clipping; the last step must have
   kept it. Gradients of 16-bit floats are returned as float32, without the loss scale. */
zero_rt_status zero_rt_session_read_gradient(zero_rt_session *session, const char *parameter,
                                             void *destination, size_t bytes);

typedef struct zero_rt_load_result {
  uint64_t taken;   /* tensors that now have the file's values */
  uint64_t missing; /* saved tensors that the file does not have; they are unchanged */
  uint64_t unknown; /* tensors of the file that the program does not save */
} zero_rt_load_result;

/* Loads the saved tensors by name from a .safetensors or .npz file, all or none; floats of
   another width are converted. Optimizer state is unchanged, except master copies, which get the
   values before they are rounded for the parameters. Tensors of another shape are an error that
   lists them, and so are missing ones unless `partial`. Without it, a remark names unknown ones. */
zero_rt_status zero_rt_session_load(zero_rt_session *session, const char *path, int partial,
                                    zero_rt_load_result *result);

typedef struct zero_rt_array {
  const char *name;
  zero_rt_dtype dtype;
  const uint64_t *shape;
  size_t dimensions;
  const void *elements;
} zero_rt_array;

/* The same from row-major elements in memory, which are read during the call only. */
zero_rt_status zero_rt_session_load_arrays(zero_rt_session *session, const zero_rt_array *arrays,
                                           size_t count, int partial, zero_rt_load_result *result);

/* Writes the trained weights (or the kept gradients) as .safetensors, through a temporary file and
   a rename. Weights, by their name: FILE.onnx is the model that the program was compiled from, with
   new initializers (external data in FILE.data), FILE.gguf and FOLDER/ as zero-run --save. */
zero_rt_status zero_rt_session_save(zero_rt_session *session, const char *path);
zero_rt_status zero_rt_session_save_gradients(zero_rt_session *session, const char *path);

/* Writes a checkpoint to folder/step-N, where N is the number of steps done: weights, buffers,
   optimizer state, the number of the step and the position in the data. All ranks write at
   once, each its own part. The folder is created if necessary, and other processes cannot save
   there until this session is freed. A checkpoint appears by a rename when it is complete on
   disk, then all but the last two are removed. On failure existing checkpoints are unchanged.
   It is an error if the folder has a checkpoint of a later step than this session's, unless it
   was found damaged when this session was loaded from there.
   docs/reference/checkpoint-format.md has the format. */
zero_rt_status zero_rt_session_save_state(zero_rt_session *session, const char *folder);

/* Flags of zero_rt_session_load_state(). */
enum {
  ZERO_RT_RESTART_DATA = 1 /* the next step reads the first batch */
};

typedef struct zero_rt_state_result {
  uint64_t step;          /* of the next step */
  uint64_t batch;         /* of the data that it reads; 0 until the session has data */
  const char *generation; /* the folder of the checkpoint; valid until the next load */
} zero_rt_state_result;

/* Resumes from a checkpoint of the same model, saved with any stage, ranks, buckets and precision:
   from the newest complete checkpoint in the folder `path`, or from `path` itself if it is a
   checkpoint. Everything is checked before anything is changed; an error names what does not match.
   ZERO_RT_NOT_FOUND: the folder has none. The data must have the same number and order of samples
   as that of the checkpoint, unless it is restarted. With another global batch, it goes on with the
   first whole one of which no sample was read. Without data, the next step finds the position. */
zero_rt_status zero_rt_session_load_state(zero_rt_session *session, const char *path,
                                          uint32_t flags, zero_rt_state_result *result);
/* The next remark on what was loaded (tensors left out, a damaged checkpoint, another precision)
   or saved (files that could not be removed), or NULL. Each is returned once. */
const char *zero_rt_session_next_remark(zero_rt_session *session);

#define ZERO_RT_VOLUMES 8 /* that are counted */
typedef struct zero_rt_stats {
  uint64_t steps;                        /* of this session */
  uint64_t arena_bytes[ZERO_RT_TIERS];   /* by tier, as the next two */
  uint64_t measured_peak[ZERO_RT_TIERS]; /* end of the highest byte used, up to the arena's
                                            alignment; 0 without check_memory */
  uint64_t measured_live[ZERO_RT_TIERS]; /* maximum of the bytes needed at one command; 0
                                            without check_memory */
  uint64_t model_elements;   /* received from other ranks in all steps and evaluations */
  uint64_t control_elements; /* the same for scalars of the program */
  uint64_t model_bytes, control_bytes;
  uint64_t volume_elements[ZERO_RT_VOLUMES]; /* of the model's, by volume: zero_rt/mesh.h */
  uint64_t link_bytes;                       /* of messages that came from other nodes */
  double seconds;                            /* in steps */
  uint64_t nvme_read, nvme_written; /* bytes that the last step read from and wrote to the disk */
  /* In all steps, of lanes with a thread of their own: all but compute if a program has
     transfers on CPUs. Without waiting for other ranks. `stalled` is how long compute waited for
     these lanes; its own work is only in a recording. */
  zero_rt_lane_use lanes[ZERO_RT_LANES];
  double stalled; /* seconds */
} zero_rt_stats;

zero_rt_status zero_rt_session_stats(const zero_rt_session *session, int rank,
                                     zero_rt_stats *stats);

/* The access of a session to the nvme tier, and the bytes moved so far. */
typedef struct zero_rt_nvme_info {
  const char *queue; /* "io_uring" or "4 threads" */
  int direct;        /* without the page cache; 0 if the file system does not support it */
  uint64_t read;     /* bytes of full blocks that all ranks have moved since the session began: */
  uint64_t written;  /* initial values, steps, evaluations, checkpoints, headers of the files */
} zero_rt_nvme_info;

/* 0 if the program stores nothing on disk; then *info is unchanged. */
int zero_rt_session_nvme(const zero_rt_session *session, zero_rt_nvme_info *info);
/* The file of `rank`, of several the one with its first bytes; NULL if it has none. */
const char *zero_rt_session_nvme_file(const zero_rt_session *session, int rank);

/* --- profile ----------------------------------------------------------------- */

/* A command that ran on a rank. Times are nanoseconds since the recording was requested, by
   one clock for all ranks. */
typedef struct zero_rt_event {
  uint32_t command;     /* index for zero_rt_executable_command() */
  uint32_t micro_batch; /* the micro-batch, if its segment runs for each */
  uint64_t begin, end;
  uint64_t waited; /* of this, for other ranks; the rest of a collective copies and sums */
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
  int full;                    /* all requested steps are recorded */
} zero_rt_recording;

/* Records when each command of the next `steps` steps runs, on every rank, and replaces the
   previous recording; 0 frees it. Recording does not change the order of lanes. Memory for all
   steps is reserved here, 32 bytes for each command. Evaluations are not recorded. */
zero_rt_status zero_rt_session_record(zero_rt_session *session, uint64_t steps);
/* The recording so far. The pointers are valid until the next zero_rt_session_record(). */
zero_rt_status zero_rt_session_recording(const zero_rt_session *session, int rank,
                                         zero_rt_recording *recording);

/* The plan of one step in the form of a recording: number 0, from time 0 on. Valid as long as
   the executable. ZERO_RT_NOT_FOUND as in zero_rt_executable_plan(). */
zero_rt_status zero_rt_executable_timeline(zero_rt_executable *executable,
                                           zero_rt_recording *timeline);

/* The limits of one rank while all ranks do the same. */
typedef struct zero_rt_machine {
  double flops;           /* a second: float32 multiply-adds in registers, two each */
  double triad_bandwidth; /* bytes a second: a[i] = b[i] + s c[i] beyond the caches */
  double copy_bandwidth;  /* bytes a second, read and written: memcpy beyond the caches */
  double half_flops;      /* a second: multiply-adds of bf16 to float32 sums, two each; 0: the
                             processor has none */
} zero_rt_machine;

/* Measures the limits with the ranks, threads and cores that a session would use; takes about
   half a second and meanwhile 192 MiB of memory in total, or 48 MiB for each core if that is
   more. A figure is the mean over ranks of the best millisecond of each. */
zero_rt_status zero_rt_measure_machine(const zero_rt_executable *executable,
                                       const zero_rt_session_options *options,
                                       zero_rt_machine *machine);

typedef struct zero_rt_calibration_options {
  int ranks;               /* number that measures in parallel, one core for each thread; 0
                              (default): as many as the cores allow */
  int threads_per_rank;    /* 1 by default */
  int pin;                 /* as in zero_rt_session_options */
  const char *disk_folder; /* as nvme_dir, whose drives are measured; NULL (default): none */
} zero_rt_calibration_options;

void zero_rt_calibration_options_default(zero_rt_calibration_options *options);

/* Measures this machine, and writes its description to `path` as JSON: limits as above,
   products of some sizes, attention, convolution, compiled loops, collectives. All ranks
   measure at once, so that shared resources count. Each figure is the mean over ranks of the best
   measurement of each. Takes some seconds and memory as above, but at least 96 MiB for each rank; a
   disk takes half a second more for each direction and for both, 256 MiB for each rank. */
zero_rt_status zero_rt_calibrate(const zero_rt_calibration_options *options, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_ZERO_RT_H */
