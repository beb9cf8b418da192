/* Pando inside of an application's process.
 *
 * Link with libpando_c.so. Every function may be called from any thread; a channel may be read by one thread while another writes or closes it.
 * Where `error` is taken, NULL is allowed; what is put there is freed with pando_error_free. */

#ifndef PANDO_H
#define PANDO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What pando_abi_version tells of a library that this header fits. */
#define PANDO_ABI_VERSION 1

typedef struct pando_engine pando_engine;
typedef struct pando_channel pando_channel;
typedef struct pando_error pando_error;

/* The protocol that a connection speaks. */
#define PANDO_MYSQL 1
#define PANDO_POSTGRESQL 2

/* What reading and writing return beside a number of bytes. */
#define PANDO_END 0
#define PANDO_FAILED (-1)
#define PANDO_TIMED_OUT (-2)
#define PANDO_PENDING (-3)

/* Wait for as long as it takes. */
#define PANDO_FOREVER (-1)

/* NULL where something is not given. */
typedef struct {
    uint32_t size;       /* sizeof(pando_options) */
    const char *path;    /* a folder of YAML files, or one file */
    const char *name;    /* what errors call `text` */
    const char *text;    /* YAML, in the place of `path` */
    const char *data;    /* a folder where the configuration is kept */
    const char *modules; /* a folder with WebAssembly modules */
} pando_options;

uint32_t pando_abi_version(void);

/* What is wrong, in UTF-8; lives as long as the error. */
const char *pando_error_message(const pando_error *error);
void pando_error_free(pando_error *error);

/* The engine of a configuration. A process has one for each: it is closed when all who have opened it have closed it. NULL with an error. */
pando_engine *pando_open(const pando_options *options, pando_error **error);
void pando_close(pando_engine *engine);

/* The protocol of a database's storage units; the first database's where `database` is NULL. 0 where there is none. */
int32_t pando_protocol(const pando_engine *engine, const char *database);

/* A connection, which begins with the client's login. Any user name and password are right. NULL with an error. */
pando_channel *pando_connect(const pando_engine *engine, int32_t protocol, pando_error **error);

/* The same behind a connected socket, which a thread of the engine serves and the caller closes. -1 with an error. */
int pando_socket(const pando_engine *engine, int32_t protocol, pando_error **error);

/* Reads at least one byte, for at most so many milliseconds. The session runs on the calling thread meanwhile.
 * Bytes, PANDO_END, PANDO_TIMED_OUT or PANDO_FAILED. */
int64_t pando_read(const pando_channel *channel, void *bytes, size_t count, int64_t milliseconds, pando_error **error);

/* Writes all of it, for at most so many milliseconds. Bytes written, which are fewer than `count` when the time was over, or PANDO_FAILED. */
int64_t pando_write(const pando_channel *channel, const void *bytes, size_t count, int64_t milliseconds, pando_error **error);

/* Bytes that can be read without waiting. */
size_t pando_available(const pando_channel *channel);

/* For callers that must not wait: `wake` is called, from any thread, when there is reason to poll again. Given once for a channel, before it is
 * polled first. `release` is called when `wake` will never be called again. Neither may call back into the channel. */
void pando_on_wake(pando_channel *channel, void (*wake)(void *), void (*release)(void *), void *context);

/* As pando_read and pando_write, without waiting: PANDO_PENDING before a call of `wake`. */
int64_t pando_poll_read(const pando_channel *channel, void *bytes, size_t count, pando_error **error);
int64_t pando_poll_write(const pando_channel *channel, const void *bytes, size_t count, pando_error **error);

/* Ends the session; whoever reads or writes is told. */
void pando_shutdown(const pando_channel *channel);

/* Ends the session and frees the channel, which nobody may use any more. */
void pando_channel_free(pando_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
