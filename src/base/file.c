/* file.c: reads files, and replaces them atomically: writes a temporary file in the same directory,
   then renames it. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* The size of a regular file, or 0 where only reading tells. */
static size_t size_of(FILE *f, int *regular)
{
    struct stat st;
    *regular = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    return *regular && st.st_size > 0 ? (size_t)st.st_size : 0;
}

static int read_stream(FILE *f, struct str *text, nami_err *err)
{
    char buf[1 << 16];
    int regular;
    size_t n, before = text->n, size = size_of(f, &regular);
    str_reserve(text, size); /* if there is no room for it, this is known before it is read */
    while (!text->oom && (n = fread(buf, 1, sizeof buf, f)) > 0) {
        str_putn(text, buf, n);
        if (!regular && text->n - before > FILE_STREAM_MAX)
            return err_set(err, NAMI_ELIMIT,
                           "more than %zu MiB from a pipe or device; write it to a file first",
                           FILE_STREAM_MAX >> 20);
    }
    str_putn(text, "", 0); /* an empty file is an empty text, not NULL */
    if (text->oom) return err_nomem(err);
    return ferror(f) ? err_set(err, NAMI_EFILE, "cannot read: %s", strerror(errno)) : 0;
}

int file_read(const char *path, struct str *text, nami_err *err)
{
    int is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f && errno == ENOMEM) return err_nomem(err);
    if (!f) return err_set(err, NAMI_EFILE, "cannot open: %s", strerror(errno));
    int rc = read_stream(f, text, err);
    if (!is_stdin) fclose(f);
    return rc;
}

static int sync_fd(int fd)
{
    int rc;
    do rc = fsync(fd);
    while (rc && errno == EINTR);
    return rc;
}

/* Flushes the directory entry to disk; errors are ignored if the directory cannot be opened.
   Truncates path. */
static int sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = 0;
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0) return 0;
    int why = sync_fd(fd) ? errno : 0;
    close(fd);
    errno = why;
    return why && why != EINVAL && why != ENOTSUP ? -1 : 0;
}

static int write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, data, n);
        if (k < 0 && errno != EINTR) return -1;
        if (k > 0) data += k, n -= (size_t)k;
    }
    return 0;
}

/* A name next to path that hardly any file has yet. */
static int new_name(const char *path, struct str *tmp, nami_err *err)
{
    uint64_t random;
    if (getentropy(&random, sizeof random))
        return err_set(err, NAMI_EFILE, "cannot create: %s", strerror(errno));
    tmp->n = 0;
    str_printf(tmp, "%s.%010llx", path, (unsigned long long)random & 0xffffffffffu);
    return tmp->oom ? err_nomem(err) : 0;
}

enum { TRIES = 100 };

/* O_EXCL sees to it that no other file has this name, and open() applies the umask by itself. */
static int make_named(const char *path, mode_t mode, struct str *tmp, int *fd, nami_err *err)
{
    for (int i = 0; i < TRIES; i++) {
        int rc = new_name(path, tmp, err);
        if (rc) return rc;
        *fd = open(tmp->s, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0) return 0;
        if (errno != EEXIST) break;
    }
    return err_set(err, NAMI_EFILE, "cannot create: %s", strerror(errno));
}

/* The name under which link() finds a file that has none. */
static void name_of_fd(int fd, char name[32]) { snprintf(name, 32, "/proc/self/fd/%d", fd); }

/* A file without a name: nothing is left of it if the program is killed. -1 if the file system or
   the system has none. */
static int make_unnamed(const char *path, mode_t mode)
{
    int fd = -1;
#ifdef O_TMPFILE
    char *folder = strdup(path), name[32], *slash = folder ? strrchr(folder, '/') : NULL;
    if (!folder) return -1;
    if (slash) slash[slash == folder] = 0;
    fd = open(slash ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    free(folder);
    name_of_fd(fd, name);
    if (fd >= 0 && access(name, F_OK)) { /* no /proc: it could never get a name */
        close(fd);
        fd = -1;
    }
#else
    (void)path, (void)mode;
#endif
    return fd;
}

int file_give_name(struct file_out *f, nami_err *err)
{
    char name[32];
    if (!f->unnamed) return 0;
    name_of_fd(f->fd, name);
    for (int i = 0; i < TRIES; i++) {
        int rc = new_name(f->path, &f->tmp, err);
        if (rc) return rc;
        if (linkat(AT_FDCWD, name, AT_FDCWD, f->tmp.s, AT_SYMLINK_FOLLOW) == 0) {
            f->unnamed = 0;
            return 0;
        }
        if (errno != EEXIST) break;
    }
    return err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
}

/* Copies the permissions of the replaced file. If its group cannot be set, the group gets the
   permissions of others. */
static int keep_mode(int fd, const struct stat *old)
{
    struct stat st;
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &st)) return -1;
    if (st.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid))
        mode = (mode & 0707) | (mode & 07) << 3;
    return fchmod(fd, mode);
}

/* Creates a temporary file next to f->path; old: the current file, or NULL. */
static int make(struct file_out *f, const struct stat *old, nami_err *err)
{
    mode_t mode = old ? 0600 : 0666;
    int rc = 0;
    f->fd = make_unnamed(f->path, mode);
    f->unnamed = f->fd >= 0;
    if (f->unnamed)
        rc = new_name(f->path, &f->tmp, err);
    else
        rc = make_named(f->path, mode, &f->tmp, &f->fd, err);
    if (!rc && old && keep_mode(f->fd, old))
        rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
    if (rc && f->fd >= 0)
        file_drop(f);
    else if (rc)
        str_free(&f->tmp);
    return rc;
}

int file_begin(struct file_out *f, const char *path, nami_err *err)
{
    struct stat st;
    int there = stat(path, &st) == 0;
    *f = (struct file_out){.fd = -1, .path = path};
    if (there && !S_ISREG(st.st_mode)) { /* /dev/stdout and pipes: no renaming */
        f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        return f->fd >= 0 ? 0 : err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
    }
    return make(f, there ? &st : NULL, err);
}

int file_put(struct file_out *f, const char *data, size_t n, nami_err *err)
{
    if (write_all(f->fd, data, n) == 0) return 0;
    return err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
}

int file_end(struct file_out *f, int durable, nami_err *err)
{
    int rc = 0, why = 0;
    if (durable && f->tmp.s && sync_fd(f->fd)) why = errno;
    if (!why && (rc = file_give_name(f, err))) {
        file_drop(f);
        return rc;
    }
    if (close(f->fd) && !why) why = errno;
    if (f->tmp.s && !why && rename(f->tmp.s, f->path)) why = errno;
    if (why) {
        rc = err_set(err, NAMI_EFILE, "cannot write: %s", strerror(why));
        if (f->tmp.s && !f->unnamed) unlink(f->tmp.s);
    } else if (durable && f->tmp.s && sync_folder(f->tmp.s)) {
        rc = err_set(err, NAMI_EFILE, "written, but not safe from a power failure: %s",
                     strerror(errno));
    }
    str_free(&f->tmp);
    return rc;
}

void file_drop(struct file_out *f)
{
    close(f->fd);
    if (f->tmp.s && !f->unnamed) unlink(f->tmp.s);
    str_free(&f->tmp);
}

int file_check(const char *path, nami_err *err)
{
    struct stat st;
    struct file_out f;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0; /* opening a pipe may block until it is read */
    int rc = file_begin(&f, path, err);
    if (!rc) file_drop(&f);
    return rc;
}

int file_spool(const char *path, int *fd, nami_err *err)
{
    struct str tmp = {0};
    int rc = 0;
    if ((*fd = make_unnamed(path, 0600)) >= 0) return 0;
    rc = make_named(path, 0600, &tmp, fd, err);
    if (!rc) unlink(tmp.s);
    str_free(&tmp);
    return rc;
}

static int replace(const char *path, const char *data, size_t n, int durable, nami_err *err)
{
    struct file_out f;
    int rc = file_begin(&f, path, err);
    if (rc) return rc;
    rc = file_put(&f, data, n, err);
    if (!rc) return file_end(&f, durable, err);
    file_drop(&f);
    return rc;
}

int file_write(const char *path, const char *data, size_t n, nami_err *err)
{
    return replace(path, data, n, 0, err);
}

int file_save(const char *path, const char *data, size_t n, nami_err *err)
{
    return replace(path, data, n, 1, err);
}
