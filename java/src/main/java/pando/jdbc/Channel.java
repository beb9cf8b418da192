package pando.jdbc;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.TimeUnit;

/**
 * A connection to the engine. A platform thread runs the session itself while it reads. A virtual thread polls it and parks, so that it never holds
 * its carrier.
 */
final class Channel {
    private final Engine engine;
    private final long number;
    /** The virtual thread that reads, and has the turn; another one waits for its turn. */
    private final ReentrantLock turn = new ReentrantLock();
    private final AtomicReference<Thread> waiting = new AtomicReference<>();
    private volatile boolean isClosed;

    Channel(Engine engine, long number) {
        this.engine = engine;
        this.number = number;
        engine.waits(number, waiting);
    }

    static void unpark(AtomicReference<Thread> who) {
        // Whoever comes to wait behind this looks for himself first.
        LockSupport.unpark(who.get());
    }

    /** Reads at least one byte; -1 at the end. No time limit where {@code milliseconds} is 0. */
    int read(byte[] bytes, int offset, int count, int milliseconds) throws IOException {
        if (count == 0) {
            return 0;
        }
        int read = Threads.isVirtual() ? readParked(bytes, offset, count, milliseconds)
                : Native.read(number, bytes, offset, count, milliseconds == 0 ? -1 : milliseconds);
        if (read == Native.TIMED_OUT) {
            throw new SocketTimeoutException("Read timed out");
        }
        return read;
    }

    private int readParked(byte[] bytes, int offset, int count, int milliseconds) throws IOException {
        long until = milliseconds == 0 ? Long.MAX_VALUE : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        return parked(until, () -> Native.pollRead(number, bytes, offset, count));
    }

    void write(byte[] bytes, int offset, int count) throws IOException {
        for (int done = 0; done < count;) {
            int from = offset + done;
            int left = count - done;
            done += Threads.isVirtual() ? parked(Long.MAX_VALUE, () -> Native.pollWrite(number, bytes, from, left))
                    : Native.write(number, bytes, from, left);
        }
    }

    private interface Poll {
        int now() throws IOException;
    }

    /** Polls until there is something, and parks in between. An interrupt stays set and ends no wait, as with sockets of the JDK's. */
    private int parked(long until, Poll poll) throws IOException {
        if (!takesTurn(until)) {
            return Native.TIMED_OUT;
        }
        boolean wasInterrupted = false;
        try {
            waiting.set(Thread.currentThread());
            while (true) {
                int done = poll.now();
                if (done != Native.PENDING) {
                    return done;
                }
                if (until == Long.MAX_VALUE) {
                    LockSupport.park(this);
                } else {
                    long left = until - System.nanoTime();
                    if (left <= 0) {
                        return Native.TIMED_OUT;
                    }
                    LockSupport.parkNanos(this, left);
                }
                // A park of a thread that is interrupted ends at once.
                wasInterrupted |= Thread.interrupted();
            }
        } finally {
            waiting.set(null);
            turn.unlock();
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean takesTurn(long until) throws IOException {
        if (until == Long.MAX_VALUE) {
            turn.lock();
            return true;
        }
        try {
            return turn.tryLock(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while another thread reads", interrupted);
        }
    }

    int available() throws IOException {
        return Native.available(number);
    }

    boolean isClosed() {
        return isClosed;
    }

    void close() {
        if (!isClosed) {
            isClosed = true;
            Native.shutdown(number);
            engine.forget(number);
            unpark(waiting);
        }
    }
}
