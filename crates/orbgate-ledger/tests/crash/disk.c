/* A disk that can lose what wasn't synced, fail, be full, or stop the process: preloaded into the program under test.
 *
 * ORBGATE_DISK          the folder of the files that it watches
 * ORBGATE_DISK_DURABLE  the folder that gets a copy of each file when it is synced
 * ORBGATE_DISK_FAULT    what happens at the n-th sync or write: kill_before_sync, kill_after_sync, sync_error,
 *                       write_error, disk_full, torn_write; no_sync: nothing is ever made durable
 * ORBGATE_DISK_AT       n, from 1
 *
 * In C and not in Rust, because Rust without `unsafe` can neither replace a function of the C library nor write a VFS of
 * SQLite's. It is compiled by the test, and never part of the crate. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long syncs, writes;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);

__attribute__((constructor)) static void start(void) {
    real_pwrite = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
    real_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
}

static int is_fault(const char *fault) {
    const char *wanted = getenv("ORBGATE_DISK_FAULT");
    return wanted != NULL && strcmp(wanted, fault) == 0;
}

static long at(void) {
    const char *at = getenv("ORBGATE_DISK_AT");
    return at == NULL ? 0 : atol(at);
}

/* The path of a watched file. Shared memory isn't one: it is never durable. */
static int watched(int file, char *path) {
    char link[64];
    const char *folder = getenv("ORBGATE_DISK");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (folder == NULL || length < 0) {
        return 0;
    }
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0 && strstr(path, "-shm") == NULL;
}

static void stop(void) { kill(getpid(), SIGKILL); }

/* Copies a file as it is now. */
static void make_durable(const char *path) {
    char part[PATH_MAX], to[PATH_MAX], bytes[65536];
    const char *durable = getenv("ORBGATE_DISK_DURABLE"), *name = strrchr(path, '/');
    if (durable == NULL || is_fault("no_sync")) {
        return;
    }
    if (snprintf(part, sizeof part, "%s%s.part", durable, name) >= PATH_MAX ||
        snprintf(to, sizeof to, "%s%s", durable, name) >= PATH_MAX) {
        abort();
    }
    int from = open(path, O_RDONLY), copy = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (from < 0 || copy < 0) {
        /* The file was deleted while it was open, as SQLite does with a log that it doesn't need any more. */
        return;
    }
    for (ssize_t length; (length = read(from, bytes, sizeof bytes)) > 0;) {
        if (write(copy, bytes, (size_t)length) != length) {
            abort();
        }
    }
    close(from);
    close(copy);
    if (rename(part, to) != 0) {
        abort();
    }
}

static int sync_file(int file) {
    char path[PATH_MAX];
    if (!watched(file, path)) {
        return real_fsync(file);
    }
    int is_now = ++syncs == at();
    if (is_now && is_fault("kill_before_sync")) {
        stop();
    }
    if (is_now && is_fault("sync_error")) {
        errno = EIO;
        return -1;
    }
    /* Not synced for real: what survives is the copy, and the machine that runs the test keeps running. */
    make_durable(path);
    if (is_now && is_fault("kill_after_sync")) {
        stop();
    }
    return 0;
}

int fsync(int file) { return sync_file(file); }

int fdatasync(int file) { return sync_file(file); }

ssize_t pwrite64(int file, const void *bytes, size_t length, off_t offset) {
    char path[PATH_MAX];
    if (watched(file, path) && ++writes == at()) {
        if (is_fault("write_error") || is_fault("disk_full")) {
            errno = is_fault("disk_full") ? ENOSPC : EIO;
            return -1;
        }
        if (is_fault("torn_write")) {
            real_pwrite(file, bytes, length / 2, offset);
            stop();
        }
    }
    return real_pwrite(file, bytes, length, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) { return pwrite64(file, bytes, length, offset); }
