/* An application with the engine in it: app CONFIGURATION. One line `ok` or `FAILED` for each thing that must hold. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pando.h"

static pando_engine *engine;
static int failures;

static void told(int holds, const char *name) {
    printf("%s embed/%s-%s\n", holds ? "ok" : "FAILED", getenv("APP"), name);
    fflush(stdout);
    failures += !holds;
}

static void broken(const char *what, pando_error *error) {
    fprintf(stderr, "%s: %s\n", what, pando_error_message(error));
    exit(2);
}

/* Bytes by whichever way a client has: waiting, being called, or a socket. */
typedef struct {
    pando_channel *channel;
    int is_called, socket;
    pthread_mutex_t lock;
    pthread_cond_t came;
    int rung, released;
} client;

static void wake(void *context) {
    client *own = context;
    pthread_mutex_lock(&own->lock);
    own->rung = 1;
    pthread_cond_broadcast(&own->came);
    pthread_mutex_unlock(&own->lock);
}

static void released(void *context) {
    client *own = context;
    pthread_mutex_lock(&own->lock);
    own->released = 1;
    pthread_cond_broadcast(&own->came);
    pthread_mutex_unlock(&own->lock);
}

static void await(client *own) {
    pthread_mutex_lock(&own->lock);
    while (!own->rung) pthread_cond_wait(&own->came, &own->lock);
    own->rung = 0;
    pthread_mutex_unlock(&own->lock);
}

static void put(client *own, const char *bytes, size_t count) {
    pando_error *error = NULL;
    for (size_t done = 0; done < count;) {
        int64_t wrote;
        if (own->socket >= 0) wrote = write(own->socket, bytes + done, count - done);
        else if (own->is_called) wrote = pando_poll_write(own->channel, bytes + done, count - done, &error);
        else wrote = pando_write(own->channel, bytes + done, count - done, PANDO_FOREVER, &error);
        if (wrote == PANDO_PENDING) await(own);
        else if (wrote < 0) broken("writing", error);
        else done += wrote;
    }
}

static void get(client *own, char *bytes, size_t count) {
    pando_error *error = NULL;
    for (size_t done = 0; done < count;) {
        int64_t got;
        if (own->socket >= 0) got = read(own->socket, bytes + done, count - done);
        else if (own->is_called) got = pando_poll_read(own->channel, bytes + done, count - done, &error);
        else got = pando_read(own->channel, bytes + done, count - done, PANDO_FOREVER, &error);
        if (got == PANDO_PENDING) await(own);
        else if (got <= 0) broken("reading", error);
        else done += got;
    }
}

/* PostgreSQL's protocol, as much as it takes: the first value of the last row, or the error. */
static void answer(client *own, char *value, size_t size) {
    value[0] = 0;
    for (;;) {
        char head[5];
        get(own, head, 5);
        uint32_t length;
        memcpy(&length, head + 1, 4);
        length = ntohl(length) - 4;
        char *body = malloc(length + 1);
        get(own, body, length);
        if (head[0] == 'D') {
            uint32_t count;
            memcpy(&count, body + 2, 4);
            snprintf(value, size, "%.*s", (int)ntohl(count), body + 6);
        } else if (head[0] == 'E') {
            snprintf(value, size, "error");
        }
        free(body);
        if (head[0] == 'Z') return;
    }
}

static void ask(client *own, const char *sql, char *value, size_t size) {
    uint32_t length = htonl(strlen(sql) + 5);
    char *message = malloc(strlen(sql) + 6);
    message[0] = 'Q';
    memcpy(message + 1, &length, 4);
    strcpy(message + 5, sql);
    put(own, message, strlen(sql) + 6);
    free(message);
    answer(own, value, size);
}

static int is(client *own, const char *sql, const char *expected) {
    char value[64];
    ask(own, sql, value, sizeof value);
    if (strcmp(value, expected)) fprintf(stderr, "%s: %s, not %s\n", sql, value, expected);
    return !strcmp(value, expected);
}

static void log_in(client *own) {
    static const char startup[] = "\0\3\0\0user\0app\0database\0shop\0";
    uint32_t length = htonl(sizeof startup + 4);
    char value[64];
    put(own, (const char *)&length, 4);
    put(own, startup, sizeof startup);
    answer(own, value, sizeof value);
}

enum way { WAITS, CALLED, SOCKET };

static void open_client(client *own, enum way way) {
    pando_error *error = NULL;
    memset(own, 0, sizeof *own);
    pthread_mutex_init(&own->lock, NULL);
    pthread_cond_init(&own->came, NULL);
    own->socket = -1;
    if (way == SOCKET) {
        if ((own->socket = pando_socket(engine, PANDO_POSTGRESQL, &error)) < 0) broken("a socket", error);
    } else {
        if (!(own->channel = pando_connect(engine, PANDO_POSTGRESQL, &error))) broken("connecting", error);
        own->is_called = way == CALLED;
        if (own->is_called) pando_on_wake(own->channel, wake, released, own);
    }
    log_in(own);
}

static void close_client(client *own) {
    if (own->socket >= 0) close(own->socket);
    else pando_channel_free(own->channel);
    if (own->is_called) {
        pthread_mutex_lock(&own->lock);
        while (!own->released) pthread_cond_wait(&own->came, &own->lock);
        pthread_mutex_unlock(&own->lock);
    }
}

static void *rounds(void *context) {
    client own;
    long wrong = 0;
    open_client(&own, (enum way)(intptr_t)context);
    for (int n = 0; n < 30; n++) {
        char sql[96], expected[16];
        snprintf(sql, sizeof sql, "select v from embed_t where id = %d", n % 10);
        snprintf(expected, sizeof expected, "%d", n % 10 * 100);
        wrong += !is(&own, sql, expected);
        wrong += !is(&own, "select count(*) from embed_t", "10");
    }
    close_client(&own);
    return (void *)wrong;
}

/* So many threads, each with a connection of its own. */
static int together(enum way way) {
    pthread_t threads[8];
    long all = 0;
    for (int n = 0; n < 8; n++) pthread_create(&threads[n], NULL, rounds, (void *)(intptr_t)way);
    for (int n = 0; n < 8; n++) {
        void *wrong;
        pthread_join(threads[n], &wrong);
        all += (long)wrong;
    }
    return all == 0;
}

static void *reads(void *context) {
    char byte;
    return (void *)(intptr_t)pando_read(context, &byte, 1, PANDO_FOREVER, NULL);
}

static void sharing(void) {
    client own;
    open_client(&own, WAITS);
    pthread_t readers[3];
    char byte;
    told(pando_read(own.channel, &byte, 1, 50, NULL) == PANDO_TIMED_OUT, "a-read-ends-in-time");
    for (int n = 0; n < 3; n++) pthread_create(&readers[n], NULL, reads, own.channel);
    pando_shutdown(own.channel);
    int all_failed = 1;
    for (int n = 0; n < 3; n++) {
        void *got;
        pthread_join(readers[n], &got);
        all_failed &= (intptr_t)got == PANDO_FAILED;
    }
    told(all_failed, "readers-are-told-of-the-end");
    close_client(&own);
}

/* A row that one session holds is waited for by another one on the same thread's neighbour. */
static void *updates(void *context) {
    client own;
    open_client(&own, (enum way)(intptr_t)context);
    long wrong = !is(&own, "update embed_t set v = v + 1 where id = 3", "");
    close_client(&own);
    return (void *)wrong;
}

static void locks(enum way way, const char *name) {
    client own;
    pthread_t other;
    void *wrong;
    open_client(&own, way);
    int holds = is(&own, "begin", "") && is(&own, "update embed_t set v = v + 1 where id = 3", "");
    pthread_create(&other, NULL, updates, (void *)(intptr_t)way);
    holds &= is(&own, "select v from embed_t where id = 3", "301") && is(&own, "commit", "");
    pthread_join(other, &wrong);
    holds &= !wrong && is(&own, "select v from embed_t where id = 3", "302") && is(&own, "update embed_t set v = 300 where id = 3", "");
    close_client(&own);
    told(holds, name);
}

static void forked(void) {
    pid_t child = fork();
    if (!child) {
        pando_error *error = NULL;
        int refused = !pando_connect(engine, PANDO_POSTGRESQL, &error) && strstr(pando_error_message(error), "fork");
        _exit(!refused);
    }
    int status = 1;
    waitpid(child, &status, 0);
    told(!status, "a-fork-is-refused");
}

int main(int count, char **words) {
    pando_error *error = NULL;
    pando_options options = {.size = sizeof options, .path = count > 1 ? words[1] : NULL};
    told(pando_abi_version() == PANDO_ABI_VERSION, "version");
    pando_options nowhere = {.size = sizeof nowhere, .path = "/nowhere/at/all"};
    told(!pando_open(&nowhere, &error) && strstr(pando_error_message(error), "/nowhere/at/all"), "what-is-wrong-is-told");
    pando_error_free(error);
    error = NULL;
    if (!(engine = pando_open(&options, &error))) broken("opening", error);
    pando_engine *again = pando_open(&options, &error);
    told(pando_protocol(engine, "shop") == PANDO_POSTGRESQL, "protocol");
    client own;
    open_client(&own, WAITS);
    is(&own, "drop table if exists embed_t", "");
    told(is(&own, "create table embed_t (id int primary key, v int)", ""), "create");
    told(is(&own, "insert into embed_t values (0, 0), (1, 100), (2, 200), (3, 300), (4, 400), (5, 500), (6, 600), (7, 700), (8, 800), (9, 900)", ""),
         "insert");
    told(is(&own, "select sum(v) from embed_t", "4500"), "over-shards");
    told(together(WAITS), "threads-that-wait");
    told(together(CALLED), "threads-that-are-called");
    told(together(SOCKET), "sockets");
    locks(WAITS, "locks-of-those-that-wait");
    locks(CALLED, "locks-of-those-that-are-called");
    sharing();
    forked();
    pando_close(again);
    told(is(&own, "select count(*) from embed_t", "10"), "one-engine-for-all-who-open-it");
    told(is(&own, "drop table embed_t", ""), "drop");
    pando_close(engine);
    char byte;
    told(pando_read(own.channel, &byte, 1, 5000, NULL) != PANDO_TIMED_OUT, "a-session-ends-with-the-engine");
    close_client(&own);
    return failures != 0;
}
