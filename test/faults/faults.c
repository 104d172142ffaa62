/* faults.c - system calls that fail, kill or are slow. Loaded by LD_PRELOAD.
 *
 *   ZERO_FAULT=KIND:N:ERRNO   the N-th call of KIND, from 1, fails so
 *   ZERO_FAULT=KIND:N:kill    the process is killed before it
 *   ZERO_FAULT=KIND:slow:MS   each call of KIND takes so many milliseconds longer
 *   ZERO_STOP_AT_END=NUMBER   process NUMBER of a job is stopped when it ends
 *   ZERO_FAULT_COUNTS=FILE    gets a line "KIND CALLS" for each kind when the process ends
 *
 * Calls of all threads count. What libc calls itself does not come here. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum Kind { RENAME, FSYNC, MKDIR, UNLINK, MMAP, WRITE, KINDS };
static const char *const names[KINDS] = {"rename", "fsync", "mkdir", "unlink", "mmap", "write"};
static atomic_long calls[KINDS];
static int chosen = -1;
static long when, error, delay;

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("ZERO_FAULT");
  for (int kind = 0; text && kind < KINDS; ++kind) {
    size_t length = strlen(names[kind]);
    if (strncmp(text, names[kind], length) != 0 || text[length] != ':')
      continue;
    const char *rest = text + length + 1;
    char *end;
    chosen = kind;
    if (strncmp(rest, "slow:", 5) == 0) {
      delay = strtol(rest + 5, NULL, 10);
      continue;
    }
    when = strtol(rest, &end, 10);
    error = strcmp(end, ":kill") == 0 ? -1 : strtol(end + 1, NULL, 10);
  }
}

static void stop_at_end(void) {
  static const char *const numbers[] = {"ZERO_PROCESS", "OMPI_COMM_WORLD_RANK"};
  const char *stopped = getenv("ZERO_STOP_AT_END");
  for (int i = 0; stopped && i < 2; ++i) {
    const char *number = getenv(numbers[i]);
    if (number && strcmp(number, stopped) == 0)
      raise(SIGSTOP);
  }
}

__attribute__((destructor)) static void end(void) {
  stop_at_end();
  const char *path = getenv("ZERO_FAULT_COUNTS");
  char text[32 * KINDS];
  int length = 0, file;
  if (!path)
    return;
  for (int kind = 0; kind < KINDS; ++kind)
    length += snprintf(text + length, sizeof(text) - (size_t)length, "%s %ld\n", names[kind],
                       (long)calls[kind]);
  if ((file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0 ||
      syscall(SYS_write, file, text, length) != length)
    abort();
  syscall(SYS_close, file);
}

/* Whether this call fails; errno is set then. */
static int fails(enum Kind kind) {
  if (delay && (int)kind == chosen)
    nanosleep(&(struct timespec){delay / 1000, delay % 1000 * 1000000}, NULL);
  if (atomic_fetch_add(&calls[kind], 1) + 1 != when || (int)kind != chosen)
    return 0;
  if (error < 0)
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  errno = (int)error;
  return 1;
}

#define FAULT(KIND, RESULT, CALL) return fails(KIND) ? (RESULT) - 1 : (RESULT)(CALL)

int rename(const char *from, const char *to) { FAULT(RENAME, int, syscall(SYS_rename, from, to)); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  FAULT(RENAME, int, syscall(SYS_renameat2, a, from, b, to, flags));
}
int fsync(int file) { FAULT(FSYNC, int, syscall(SYS_fsync, file)); }
int fdatasync(int file) { FAULT(FSYNC, int, syscall(SYS_fdatasync, file)); }
int mkdir(const char *path, mode_t mode) { FAULT(MKDIR, int, syscall(SYS_mkdir, path, mode)); }
int unlink(const char *path) { FAULT(UNLINK, int, syscall(SYS_unlink, path)); }
int unlinkat(int folder, const char *path, int flags) {
  FAULT(UNLINK, int, syscall(SYS_unlinkat, folder, path, flags));
}
int rmdir(const char *path) { FAULT(UNLINK, int, syscall(SYS_rmdir, path)); }
void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  FAULT(MMAP, void *, syscall(SYS_mmap, at, bytes, access, flags, file, offset));
}
void *mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  FAULT(MMAP, void *, syscall(SYS_mmap, at, bytes, access, flags, file, offset));
}

/* Standard output and error are no files of a run. */
ssize_t write(int file, const void *data, size_t bytes) {
  if (file <= STDERR_FILENO)
    return syscall(SYS_write, file, data, bytes);
  FAULT(WRITE, ssize_t, syscall(SYS_write, file, data, bytes));
}
ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset) {
  FAULT(WRITE, ssize_t, syscall(SYS_pwrite64, file, data, bytes, offset));
}
ssize_t pwrite64(int file, const void *data, size_t bytes, off_t offset) {
  FAULT(WRITE, ssize_t, syscall(SYS_pwrite64, file, data, bytes, offset));
}
