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
    private final Turns reading = new Turns();
    private final Turns writing = new Turns();
    private volatile boolean isClosed;

    /** Virtual threads that do the same: one has the turn and may be parked, others wait for theirs. */
    private static final class Turns {
        final ReentrantLock turn = new ReentrantLock();
        final AtomicReference<Thread> parked = new AtomicReference<>();
    }

    Channel(Engine engine, long number) {
        this.engine = engine;
        this.number = number;
        engine.knows(number, this);
    }

    /** There is reason to poll again. Whoever comes to wait behind this looks for himself first. */
    void wake() {
        LockSupport.unpark(reading.parked.get());
        LockSupport.unpark(writing.parked.get());
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
        return parked(reading, until, () -> Native.pollRead(number, bytes, offset, count));
    }

    void write(byte[] bytes, int offset, int count) throws IOException {
        for (int done = 0; done < count;) {
            int from = offset + done;
            int left = count - done;
            done += Threads.isVirtual() ? parked(writing, Long.MAX_VALUE, () -> Native.pollWrite(number, bytes, from, left))
                    : Native.write(number, bytes, from, left);
        }
    }

    private interface Poll {
        int now() throws IOException;
    }

    /** Polls until there is something, and parks in between. An interrupt stays set and ends no wait, as with sockets of the JDK's. */
    private int parked(Turns turns, long until, Poll poll) throws IOException {
        if (!takesTurn(turns.turn, until)) {
            return Native.TIMED_OUT;
        }
        boolean wasInterrupted = false;
        try {
            turns.parked.set(Thread.currentThread());
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
            turns.parked.set(null);
            turns.turn.unlock();
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean takesTurn(ReentrantLock turn, long until) throws IOException {
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
            wake();
        }
    }
}
