/* faulty.c: a library to preload (LD_PRELOAD) that makes one call of a program fail.

     FAULTY_CALL   which: write (or pwrite), ftruncate, fsync, rename, open, close, read, linkat,
                   malloc, or all (of the file system)
     FAULTY_AT     the how-many-th of these calls, counted from 1; 0: none, only count
     FAULTY_HOW    ENOSPC, EIO, EINTR, EMFILE, SHORT (a count of 1), FOREVER (ENOSPC from then on)
                   or KILL (SIGKILL before it)
     FAULTY_LOG    a file that gets a line for each call of the file system, with the bytes
                   written, for tests of crash consistency
     FAULTY_COUNT  a file that gets the number of calls when the program ends
     FAULTY_FORK   "FIRST LAST STEP": instead of FAULTY_AT, a process for each of these numbers,
                   one after another, which begin where the libraries are loaded already; number k
                   writes to FAULTY_OUT/k.out and k.err, its status goes to FAULTY_OUT/status
     FAULTY_CLEAN  a file or folder that is removed before each
     FAULTY_ALONE  calls of child processes do not count

   Calls that concern standard streams, sockets and pipes, and
   those of the loader before main(), are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *call, *how;
static long at, *count; /* shared by all processes of a run */
static int ready, log_fd = -1;
static pid_t alone; /* or 0 */

static int to_file(int k, const char *end)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d%s", getenv("FAULTY_OUT"), k, end);
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void clean(const char *path)
{
    pid_t pid = path ? fork() : 0;
    if (pid > 0) waitpid(pid, NULL, 0);
    if (path && pid == 0) {
        execle("/bin/rm", "rm", "-rf", path, (char *)NULL, (char *[]){NULL});
        _exit(1);
    }
}

/* The end of a process, which gets two minutes. */
static int status_of(pid_t pid)
{
    int status = 0;
    for (long ms = 0; waitpid(pid, &status, WNOHANG) == 0; ms++) {
        if (ms == 120000) kill(pid, SIGKILL);
        usleep(1000);
    }
    return status;
}

/* Returns in the processes; the first one stays here and ends. */
static void fork_each(const char *range)
{
    int first, last, step;
    char path[4096];
    if (sscanf(range, "%d %d %d", &first, &last, &step) != 3) _exit(99);
    snprintf(path, sizeof path, "%s/status", getenv("FAULTY_OUT"));
    FILE *f = fopen(path, "we");
    if (!f) _exit(99);
    for (int k = first; k <= last; k += step) {
        clean(getenv("FAULTY_CLEAN"));
        *count = 0;
        pid_t pid = fork();
        if (pid == 0) {
            int out = to_file(k, ".out"), err = to_file(k, ".err");
            if (dup2(out, 1) != 1 || dup2(err, 2) != 2) _exit(99);
            at = k;
            return; /* to begin() */
        }
        fprintf(f, "%d %d\n", k, status_of(pid));
        fflush(f);
    }
    _exit(0);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTY_LOG"), *n = getenv("FAULTY_AT"),
               *range = getenv("FAULTY_FORK");
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count == MAP_FAILED) _exit(99);
    call = getenv("FAULTY_CALL");
    how = getenv("FAULTY_HOW");
    at = n ? atol(n) : 0;
    if (range) fork_each(range);
    if (getenv("FAULTY_ALONE")) alone = getpid();
    if (path)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ready = call != NULL || log_fd >= 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULTY_COUNT");
    char text[32];
    ready = 0;
    if (!path) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int n = snprintf(text, sizeof text, "%ld\n", *count);
    syscall(SYS_write, fd, text, (size_t)n);
    syscall(SYS_close, fd);
}

/* 0: let it be; otherwise errno, or -1 for a short count */
static int fails(const char *name, int is_file)
{
    if (!ready || !call || (alone && getpid() != alone) ||
        (strcmp(call, name) && !(is_file && strcmp(call, "all") == 0)))
        return 0;
    long k = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    if (!at || !how || k < at || (k > at && strcmp(how, "FOREVER"))) return 0;
    if (strcmp(how, "KILL") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "SHORT") == 0) return -1;
    return strcmp(how, "EIO") == 0      ? EIO
           : strcmp(how, "EINTR") == 0  ? EINTR
           : strcmp(how, "EMFILE") == 0 ? EMFILE
                                        : ENOSPC;
}

static int is_regular(int fd)
{
    struct stat st;
    return fd > 2 && fd != log_fd && syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 &&
           (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static void note(const char *format, ...)
{
    char line[4200];
    va_list ap;
    if (log_fd < 0 || !ready) return;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    syscall(SYS_write, log_fd, line, (size_t)n);
}

static int set_errno(int e)
{
    errno = e;
    return -1;
}

ssize_t write(int fd, const void *data, size_t n)
{
    int e = ready && is_regular(fd) ? fails("write", 1) : 0;
    if (e > 0) return set_errno(e);
    if (e < 0 && n > 1) n = 1;
    long k = syscall(SYS_write, fd, data, n);
    if (ready && k > 0 && is_regular(fd)) {
        note("write %d %ld\n", fd, k);
        if (log_fd >= 0) syscall(SYS_write, log_fd, data, (size_t)k);
        note("\n");
    }
    if (k < 0) return k == -1 ? -1 : set_errno((int)-k);
    return k;
}

/* How HDF5 writes. */
static ssize_t write_at(int fd, const void *data, size_t n, off_t at_byte)
{
    int e = ready && is_regular(fd) ? fails("write", 1) : 0;
    if (e > 0) return set_errno(e);
    if (e < 0 && n > 1) n = 1;
    return syscall(SYS_pwrite64, fd, data, n, at_byte);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at_byte)
{
    return write_at(fd, data, n, at_byte);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off_t at_byte)
{
    return write_at(fd, data, n, at_byte);
}

static int truncate_fd(int fd, off_t n)
{
    int e = ready && is_regular(fd) ? fails("ftruncate", 1) : 0;
    if (e > 0) return set_errno(e);
    return (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate(int fd, off_t n) { return truncate_fd(fd, n); }

int ftruncate64(int fd, off_t n) { return truncate_fd(fd, n); }

ssize_t read(int fd, void *data, size_t n)
{
    int e = ready && is_regular(fd) ? fails("read", 1) : 0;
    if (e > 0) return set_errno(e);
    if (e < 0 && n > 1) n = 1;
    return syscall(SYS_read, fd, data, n);
}

int fsync(int fd)
{
    int e = fails("fsync", 1);
    if (e > 0) return set_errno(e);
    note("fsync %d\n", fd);
    return (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    int e = ready && is_regular(fd) ? fails("close", 1) : 0;
    if (e > 0) { /* as Linux does: it is closed all the same */
        syscall(SYS_close, fd);
        return set_errno(e);
    }
    return (int)syscall(SYS_close, fd);
}

int rename(const char *from, const char *to)
{
    int e = fails("rename", 1);
    if (e > 0) return set_errno(e);
    note("rename %s %s\n", from, to);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    int e = fails("linkat", 1);
    if (e > 0) return set_errno(e);
    note("link %s %s\n", from, to);
    return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    int e = (flags & (O_CREAT | O_WRONLY | O_RDWR | O_DIRECTORY)) ? fails("open", 1) : 0;
    if (e > 0) return set_errno(e);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (flags & (O_CREAT | O_WRONLY | O_RDWR | O_DIRECTORY))
        note("open %d %s %s\n", fd,
             (flags & O_TMPFILE) == O_TMPFILE ? "unnamed"
             : flags & O_DIRECTORY            ? "folder"
                                              : "file",
             path);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return open_file(path, flags, mode);
}

/* ---- memory: glibc's own functions under their other names ------------------------------------
 */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static int no_memory(void)
{
    if (!ready || !fails("malloc", 0)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return no_memory() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return no_memory() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return no_memory() ? NULL : __libc_realloc(p, n); }
