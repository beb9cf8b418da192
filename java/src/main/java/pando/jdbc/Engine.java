package pando.jdbc;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The engine of one configuration in this class loader. It is opened by the first connection and stays until the JVM ends or {@link #close()}. */
public final class Engine implements AutoCloseable {
    private static final Map<String, Engine> OPEN = new ConcurrentHashMap<>();

    private final String name;
    private final long number;
    /** The open channels by number. */
    private final Map<Long, Channel> channels = new ConcurrentHashMap<>();

    private Engine(String name, long number) {
        this.name = name;
        this.number = number;
        Thread waker = new Thread(this::wake, "pando-waker");
        waker.setDaemon(true);
        waker.start();
    }

    /** The engine that a configuration's place names, opened when it is not yet. */
    static Engine of(Source source) {
        return OPEN.computeIfAbsent(source.name(), name -> new Engine(name, source.open()));
    }

    /** An engine that is open, by its name. */
    static Engine named(String name) throws IOException {
        Engine engine = OPEN.get(name);
        if (engine == null) {
            throw new IOException("the engine of `" + name + "` is closed");
        }
        return engine;
    }

    String name() {
        return name;
    }

    int protocol(String database) throws IOException {
        return Native.protocol(number, database);
    }

    String firstDatabase() throws IOException {
        return Native.firstDatabase(number);
    }

    Channel connect(int protocol) throws IOException {
        return new Channel(this, Native.connect(number, protocol));
    }

    void knows(long number, Channel channel) {
        channels.put(number, channel);
    }

    void forget(long channel) {
        channels.remove(channel);
    }

    private void wake() {
        for (long[] woken = Native.woken(number); woken.length > 0; woken = Native.woken(number)) {
            for (long number : woken) {
                Channel channel = channels.get(number);
                if (channel != null) {
                    channel.wake();
                }
            }
        }
    }

    /** Ends its sessions. The next connection opens it anew. */
    @Override
    public void close() {
        if (OPEN.remove(name, this)) {
            Native.close(number);
        }
    }

    /** Closes all engines that this class loader has opened, as a web application does when it is stopped. */
    public static void closeAll() {
        OPEN.values().forEach(Engine::close);
    }
}
