/*===- mesh.h - the mesh of a program's ranks ----------------------*- C -*-===*\
|*                                                                            *|
|* Ranks are numbered along the axes of a mesh, of which the first is the     *|
|* outermost. The rules are those of zero_rt.h.                               *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_MESH_H
#define ZERO_RT_MESH_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zero_rt_mesh {
  size_t axes;
  size_t volumes; /* the session's statistics count the first ZERO_RT_VOLUMES of them */
  int data_ranks; /* among which a global batch is divided; the others read the same rows */
} zero_rt_mesh;

typedef struct zero_rt_axis {
  const char *name; /* "data", "tensor" */
  int size;
  int data; /* the batch is cut over it */
} zero_rt_axis;

/* What a rank receives in a step from the ranks that differ from it along some axes only. */
typedef struct zero_rt_volume {
  size_t axes;               /* their number */
  const uint32_t *indices;   /* of these axes, ascending */
  uint64_t planned_elements; /* without control scalars; the maximum over ranks */
} zero_rt_volume;

zero_rt_status zero_rt_executable_mesh(const zero_rt_executable *executable, zero_rt_mesh *mesh);
zero_rt_status zero_rt_executable_axis(const zero_rt_executable *executable, size_t index,
                                       zero_rt_axis *axis);
zero_rt_status zero_rt_executable_volume(const zero_rt_executable *executable, size_t index,
                                         zero_rt_volume *volume);

/* The first rank that reads part `data_rank` of a global batch. Others that read it have the same
   outputs. */
int zero_rt_executable_data_rank(const zero_rt_executable *executable, int data_rank);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_MESH_H */
