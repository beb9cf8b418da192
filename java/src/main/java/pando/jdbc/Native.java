package pando.jdbc;

import java.io.IOException;

/** The engine's native methods ({@code crates/embed-jni}). Engines and channels are numbers; one that is not known any more is an exception. */
final class Native {
    static final int MYSQL = 1;
    static final int POSTGRESQL = 2;

    /** What reading and writing return beside a number of bytes. */
    static final int END = -1;
    static final int TIMED_OUT = -2;
    static final int PENDING = -3;

    static {
        Library.load();
    }

    private Native() {}

    static native long open(String path, String name, String text, String data, String modules);

    static native void close(long engine);

    static native int protocol(long engine, String database) throws IOException;

    /** Null where the configuration has none. */
    static native String firstDatabase(long engine) throws IOException;

    static native long connect(long engine, int protocol) throws IOException;

    /** Waits for channels that have reason to be polled again; none once the engine is closed. */
    static native long[] woken(long engine);

    /** Runs the session on this thread; negative milliseconds wait for as long as it takes. */
    static native int read(long channel, byte[] bytes, int offset, int count, long milliseconds) throws IOException;

    static native int write(long channel, byte[] bytes, int offset, int count) throws IOException;

    static native int pollRead(long channel, byte[] bytes, int offset, int count) throws IOException;

    static native int pollWrite(long channel, byte[] bytes, int offset, int count) throws IOException;

    static native int available(long channel) throws IOException;

    static native void shutdown(long channel);
}
