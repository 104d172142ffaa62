/*===- saving.h - checkpoints that are written beside steps ---------*- C -*-===*\
|*                                                                            *|
|* zero_rt_session_save_state() returns when a checkpoint is complete. These  *|
|* let steps go on while it is written. The rules are those of zero_rt.h.     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_SAVING_H
#define ZERO_RT_SAVING_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begins the checkpoint that zero_rt_session_save_state() would write: copies the state of the
   ranks of this process, on whichever tier, to host memory, which the session keeps for the next
   time. Files are written by a thread beside the following steps. A step looks at its beginning
   whether they are complete in all processes, and fails if they could not be written. A generation
   is named after the step whose state it has, and appears some steps later. Waits for an earlier
   checkpoint that is not complete; a remark says so the first time. */
zero_rt_status zero_rt_session_start_save(zero_rt_session *session, const char *folder);
/* Waits until it is complete. All processes call this before they free their sessions: without
   others, zero_rt_session_free() waits, too; with others it abandons the checkpoint. */
zero_rt_status zero_rt_session_finish_save(zero_rt_session *session);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_SAVING_H */
