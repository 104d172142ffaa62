/*===- plugin.c - MPI as a table of functions ------------------------------===*\
|*
|* The library of MPI is not linked: it has other names in other installations.
|* The runtime loads it before this file (library.cpp).
|*
\*===----------------------------------------------------------------------===*/

#include "runtime/comm/mpi/plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if ZERO_MPI_IS_OPENMPI && !defined(OMPI_MAJOR_VERSION)
#error "expected the mpi.h of Open MPI"
#elif ZERO_MPI_IS_MPICH && !defined(MPICH_VERSION)
#error "expected the mpi.h of MPICH"
#endif

/* Requests that are tested together, with their statuses on the stack. */
#define BLOCK 64
/* Codes of this file: those of MPI are positive. */
#define WAS_FINALIZED (-1)
#define IN_USE (-2)

static MPI_Comm world = MPI_COMM_NULL;
static int own; /* whether init() has initialized MPI */
static int unusedTag;

static int startMpi(ZeroMpiWorld *result) {
  int started, finalized, level;
  MPI_Initialized(&started);
  MPI_Finalized(&finalized);
  if (finalized)
    return WAS_FINALIZED;
  if (world != MPI_COMM_NULL)
    return IN_USE;
  const int code =
      started ? MPI_Query_thread(&level) : MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  if (code != MPI_SUCCESS)
    return code;
  own = !started;
  result->manyThreads = level >= MPI_THREAD_MULTIPLE;
  result->anyThread = level >= MPI_THREAD_SERIALIZED;
  return MPI_SUCCESS;
}

/* The first words of what MPI says about itself, with single spaces: MPICH's text has many lines.
 */
static void describe(ZeroMpiWorld *result) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  size_t to = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
    text[0] = 0;
  for (const char *c = text; *c && *c != '\n' && *c != ',' && to + 1 < sizeof(result->library); ++c)
    if (*c > ' ')
      result->library[to++] = *c;
    else if (to && result->library[to - 1] != ' ')
      result->library[to++] = ' ';
  result->library[to] = 0;
}

/* MPICH passes errors of requests to the handler of MPI_COMM_WORLD or MPI_COMM_SELF, which ends the
   process unless somebody has changed it. */
static int returnErrors(void) {
  const int code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return code == MPI_SUCCESS ? MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) : code;
}

static int init(ZeroMpiWorld *result) {
  int code = startMpi(result);
  if (code != MPI_SUCCESS)
    return code;
  if ((own && (code = returnErrors()) != MPI_SUCCESS) ||
      (code = MPI_Comm_dup(MPI_COMM_WORLD, &world)) != MPI_SUCCESS ||
      (code = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
      (code = MPI_Comm_rank(world, &result->process)) != MPI_SUCCESS ||
      (code = MPI_Comm_size(world, &result->processes)) != MPI_SUCCESS)
    return code;
  int *limit, found;
  code = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
  unusedTag = code == MPI_SUCCESS && found ? *limit : 32767; /* MPI's minimum */
  result->largestTag = unusedTag - 1;
  describe(result);
  return MPI_SUCCESS;
}

static int finalize(void) {
  const int code = MPI_Comm_free(&world);
  return code == MPI_SUCCESS && own ? MPI_Finalize() : code;
}

static int send(const void *data, int bytes, int process, int tag, void *requests, int index) {
  return MPI_Isend(data, bytes, MPI_BYTE, process, tag, world, (MPI_Request *)requests + index);
}

static int receive(void *data, int bytes, int process, int tag, void *requests, int index) {
  return MPI_Irecv(data, bytes, MPI_BYTE, process, tag, world, (MPI_Request *)requests + index);
}

/* The code of the first of some requests that failed. */
static int firstError(int code, const MPI_Status *statuses, int count) {
  if (code != MPI_ERR_IN_STATUS)
    return code;
  for (int i = 0; i < count; ++i)
    if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
      return statuses[i].MPI_ERROR;
  return code;
}

static int testBlock(MPI_Request *requests, int count, int first, ZeroMpiDone *done,
                     int *completed) {
  int indices[BLOCK], number;
  MPI_Status statuses[BLOCK];
  const int code = MPI_Testsome(count, requests, &number, indices, statuses);
  if (number == MPI_UNDEFINED) /* none is active */
    number = 0;
  if (code != MPI_SUCCESS)
    return firstError(code, statuses, number);
  for (int i = 0; i < number; ++i) {
    ZeroMpiDone *one = &done[(*completed)++];
    one->index = first + indices[i];
    MPI_Get_count(&statuses[i], MPI_BYTE, &one->bytes);
  }
  return MPI_SUCCESS;
}

static int test(void *requests, int count, ZeroMpiDone *done, int *completed) {
  *completed = 0;
  for (int first = 0; first < count; first += BLOCK) {
    const int block = count - first < BLOCK ? count - first : BLOCK;
    const int code = testBlock((MPI_Request *)requests + first, block, first, done, completed);
    if (code != MPI_SUCCESS)
      return code;
  }
  return MPI_SUCCESS;
}

/* MPI_Iprobe only makes progress if it finds nothing, so it asks for a message that nobody sends.
 */
static int progress(void) {
  int found;
  return MPI_Iprobe(MPI_ANY_SOURCE, unusedTag, world, &found, MPI_STATUS_IGNORE);
}

static void drop(void *requests, int receives, int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Request *request = (MPI_Request *)requests + i;
    if (*request == MPI_REQUEST_NULL)
      continue;
    if (i < receives)
      MPI_Cancel(request);
    MPI_Request_free(request);
  }
}

static void errorText(int code, char *text, size_t bytes) {
  char full[MPI_MAX_ERROR_STRING];
  int length;
  if (code == WAS_FINALIZED)
    snprintf(full, sizeof(full), "MPI was finalized earlier in this process");
  else if (code == IN_USE)
    snprintf(full, sizeof(full), "this process uses MPI already");
  else if (MPI_Error_string(code, full, &length) != MPI_SUCCESS)
    snprintf(full, sizeof(full), "error %d of MPI", code);
  snprintf(text, bytes, "%s", full);
}

extern const ZeroMpiPlugin zero_mpi_plugin;
__attribute__((visibility("default"))) const ZeroMpiPlugin zero_mpi_plugin = {
    .version = ZERO_MPI_PLUGIN_VERSION,
    .requestBytes = sizeof(MPI_Request),
    .init = init,
    .finalize = finalize,
    .send = send,
    .receive = receive,
    .test = test,
    .progress = progress,
    .drop = drop,
    .errorText = errorText,
};
