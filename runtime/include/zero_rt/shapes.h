/*===- shapes.h - programs for several shapes of the inputs ---------*- C -*-===*\
|*                                                                            *|
|* An executable may have a program for each of several shapes (--shape).     *|
|* Their commands have one numbering, that of zero_rt_executable_command():   *|
|* those of the shape with the most elements, then those of the next one.     *|
|* The rules are those of zero_rt.h.                                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_SHAPES_H
#define ZERO_RT_SHAPES_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The program for one shape. */
typedef struct zero_rt_shape_info {
  const char *name;     /* its inputs, such as "input_ids=4x256,labels=4x256"; valid until the
                           next call */
  size_t first_command; /* index of its first command */
  size_t commands;
} zero_rt_shape_info;

/* ZERO_RT_NOT_FOUND if there is no shape of that index. */
zero_rt_status zero_rt_executable_shape(zero_rt_executable *executable, size_t index,
                                        zero_rt_shape_info *info);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_SHAPES_H */
