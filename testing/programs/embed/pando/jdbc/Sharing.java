package pando.jdbc;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Threads that share one channel, as drivers do when one waits for notifications and another one sends. */
public final class Sharing {
    private Sharing() {}

    /** One reads before anything is written, another one writes; a second reader ends in time, and all are told of the end. */
    public static void run(String place, ExecutorService threads) throws Exception {
        Channel channel = Engine.of(new Source(place)).connect(Native.POSTGRESQL);
        Future<Integer> first = threads.submit((Callable<Integer>) () -> channel.read(new byte[1], 0, 1, 0));
        Future<String> second = threads.submit((Callable<String>) () -> {
            try {
                channel.read(new byte[1], 0, 1, 50);
                return "read";
            } catch (java.net.SocketTimeoutException late) {
                return "late";
            }
        });
        same("late", second.get(20, TimeUnit.SECONDS));
        byte[] startup = "\0\0\0\0\0\3\0\0user\0app\0database\0shop\0\0".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        startup[3] = (byte) startup.length;
        threads.submit((Callable<Void>) () -> {
            channel.write(startup, 0, startup.length);
            return null;
        }).get(20, TimeUnit.SECONDS);
        same(1, first.get(20, TimeUnit.SECONDS));
        // All that the login has said is read, and then there is nothing.
        Future<String> last = threads.submit((Callable<String>) () -> {
            try {
                byte[] bytes = new byte[512];
                while (channel.read(bytes, 0, bytes.length, 0) >= 0) {
                    Thread.onSpinWait();
                }
                return "end";
            } catch (java.io.IOException closed) {
                return "told";
            }
        });
        channel.close();
        String told = last.get(20, TimeUnit.SECONDS);
        if (!told.equals("told") && !told.equals("end")) {
            throw new AssertionError(told);
        }
        threads.shutdown();
    }

    private static void same(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
