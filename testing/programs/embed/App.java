import java.io.IOException;
import java.lang.reflect.Method;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** An application with the engine in it: App URL NAME. One line `ok` or `FAILED` for each thing that must hold. */
public class App {
    static String url;
    static boolean isPostgres;
    static int failed;

    interface Case {
        void run() throws Exception;
    }

    static void test(String name, Case body) {
        try {
            body.run();
            System.out.println("ok " + name);
        } catch (Throwable error) {
            failed++;
            System.out.println("FAILED " + name + ": " + error);
            error.printStackTrace();
        }
    }

    static void same(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    static Connection open() throws SQLException {
        return DriverManager.getConnection(url);
    }

    static String value(Connection db, String sql) throws SQLException {
        try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getString(1) : "none";
        }
    }

    static void run(Connection db, String sql) throws SQLException {
        try (Statement statement = db.createStatement()) {
            statement.execute(sql);
        }
    }

    public static void main(String[] words) throws Exception {
        url = words[0];
        isPostgres = words[1].startsWith("pg");
        Connection db = open();
        run(db, "drop table if exists embed_t");
        run(db, "create table embed_t (id int primary key, v int, note varchar(60))");
        test("batch", () -> {
            try (PreparedStatement insert = db.prepareStatement("insert into embed_t values (?, ?, ?)")) {
                for (int id = 0; id < 20; id++) {
                    insert.setInt(1, id);
                    insert.setInt(2, id * 100);
                    insert.setString(3, "größe");
                    insert.addBatch();
                }
                same(20, insert.executeBatch().length);
            }
        });
        test("over-shards", () -> same("19000", value(db, "select sum(v) from embed_t")));
        test("prepared", () -> prepared(db));
        test("transaction", () -> transaction(db));
        test("long-values", () -> longValues(db));
        test("errors", () -> errors(db));
        test("query-timeout", () -> timeout(db));
        test("abort", App::abort);
        test("threads", () -> threads(Executors.newFixedThreadPool(8), 8));
        test("locks-of-threads", () -> locks(Executors.newCachedThreadPool()));
        String place = url.substring("jdbc:pando:".length(), url.indexOf('?'));
        if (isPostgres) {
            test("sharing", () -> pando.jdbc.Sharing.run(place, Executors.newCachedThreadPool()));
        }
        ExecutorService virtual = virtual();
        if (virtual == null) {
            System.out.println("skipped virtual-threads: this JVM has none");
        } else {
            test("virtual-threads", () -> threads(virtual(), 40));
            test("locks-of-virtual-threads", () -> locks(virtual()));
            test("virtual-threads-wait-together", App::sleepers);
            if (isPostgres) {
                test("sharing-of-virtual-threads", () -> pando.jdbc.Sharing.run(place, virtual()));
            }
        }
        test("interrupt", () -> interrupt(db));
        run(db, "drop table embed_t");
        test("first-database", () -> {
            try (Connection first = DriverManager.getConnection(url.substring(0, url.indexOf('?')))) {
                same("shop", isPostgres ? value(first, "select current_database()") : value(first, "select database()"));
            }
        });
        test("closed", () -> {
            pando.jdbc.Engine.closeAll();
            try (Connection again = open()) {
                same("7", value(again, "select 7"));
            }
        });
        System.exit(failed == 0 ? 0 : 1);
    }

    static void prepared(Connection db) throws SQLException {
        try (PreparedStatement query = db.prepareStatement("select v, note from embed_t where id = ?")) {
            for (int round = 0; round < 40; round++) {
                query.setInt(1, round % 20);
                try (ResultSet rows = query.executeQuery()) {
                    rows.next();
                    same(round % 20 * 100, rows.getInt(1));
                    same("größe", rows.getString(2));
                }
            }
        }
    }

    static void transaction(Connection db) throws SQLException {
        db.setAutoCommit(false);
        run(db, "update embed_t set v = v + 1");
        db.rollback();
        run(db, "update embed_t set v = v + 2 where id in (0, 1)");
        db.commit();
        db.setAutoCommit(true);
        same("19004", value(db, "select sum(v) from embed_t"));
        run(db, "update embed_t set v = v - 2 where id in (0, 1)");
    }

    static void longValues(Connection db) throws SQLException {
        String text = "x".repeat(400_000);
        try (PreparedStatement query = db.prepareStatement(isPostgres ? "select ?::text" : "select ?")) {
            query.setString(1, text);
            try (ResultSet rows = query.executeQuery()) {
                rows.next();
                same(text, rows.getString(1));
            }
        }
    }

    static void errors(Connection db) throws SQLException {
        try {
            value(db, "select nothing from embed_t");
            throw new AssertionError("no error");
        } catch (SQLException error) {
            same(isPostgres ? "42703" : "42S22", error.getSQLState());
        }
        try (Statement statement = db.createStatement()) {
            statement.addBatch("insert into embed_t values (0, 0, 'again')");
            statement.executeBatch();
            throw new AssertionError("no error");
        } catch (BatchUpdateException error) {
            same("23", error.getSQLState().substring(0, 2));
        }
        same("20", value(db, "select count(*) from embed_t"));
    }

    /** A second channel cancels. */
    static void timeout(Connection db) throws SQLException {
        long began = System.nanoTime();
        try (Statement statement = db.createStatement()) {
            statement.setQueryTimeout(1);
            statement.executeQuery(isPostgres ? "select pg_sleep(30), id from embed_t" : "select id, sleep(30) from embed_t where id = 0").next();
        } catch (SQLException cancelled) {
            // What MariaDB says hangs on how far it was.
        }
        same(true, System.nanoTime() - began < TimeUnit.SECONDS.toNanos(20));
        same("20", value(db, "select count(*) from embed_t"));
    }

    static void abort() throws Exception {
        Connection db = open();
        ExecutorService other = Executors.newSingleThreadExecutor();
        Future<String> waits = other.submit(() -> {
            try {
                return value(db, isPostgres ? "select pg_sleep(30)" : "select sleep(30)");
            } catch (SQLException gone) {
                return "gone";
            }
        });
        while (!isBusy()) {
            Thread.onSpinWait();
        }
        db.abort(Runnable::run);
        String found = waits.get(20, TimeUnit.SECONDS);
        same(true, found.equals("gone") || !isPostgres && found.equals("1"));
        same(true, db.isClosed());
        other.shutdown();
    }

    static boolean isBusy() throws SQLException {
        try (Connection db = open()) {
            String sql = isPostgres ? "select count(*) from pg_stat_activity where state = 'active' and query like 'select pg_sleep%'"
                    : "select count(*) from information_schema.processlist where info like 'select sleep%'";
            return !value(db, sql).equals("0");
        }
    }

    static void threads(ExecutorService threads, int count) throws Exception {
        AtomicInteger wrong = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int n = 0; n < count; n++) {
            all.add(threads.submit((Callable<Void>) () -> {
                try (Connection db = open()) {
                    for (int round = 0; round < 20; round++) {
                        if (!value(db, "select v from embed_t where id = " + round).equals(String.valueOf(round * 100))) {
                            wrong.incrementAndGet();
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(60, TimeUnit.SECONDS);
        }
        threads.shutdown();
        same(0, wrong.get());
    }

    /** One has a row and commits later, others wait for it: it must come to its commit. */
    static void locks(ExecutorService threads) throws Exception {
        Connection holder = open();
        holder.setAutoCommit(false);
        run(holder, "update embed_t set v = v + 1 where id = 3");
        List<Future<?>> all = new ArrayList<>();
        for (int n = 0; n < 4; n++) {
            all.add(threads.submit((Callable<Void>) () -> {
                try (Connection db = open()) {
                    run(db, "update embed_t set v = v + 1 where id = 3");
                }
                return null;
            }));
        }
        Future<?> commits = threads.submit((Callable<Void>) () -> {
            same("301", value(holder, "select v from embed_t where id = 3"));
            holder.commit();
            holder.close();
            return null;
        });
        commits.get(20, TimeUnit.SECONDS);
        for (Future<?> one : all) {
            one.get(20, TimeUnit.SECONDS);
        }
        threads.shutdown();
        try (Connection db = open()) {
            same("305", value(db, "select v from embed_t where id = 3"));
            run(db, "update embed_t set v = 300 where id = 3");
        }
    }

    /** Twenty statements that sleep half a second each, on as many connections as a pool has: they do not hold their carriers. */
    static void sleepers() throws Exception {
        ExecutorService threads = virtual();
        List<Future<?>> all = new ArrayList<>();
        long began = System.nanoTime();
        for (int n = 0; n < 20; n++) {
            all.add(threads.submit((Callable<Void>) () -> {
                try (Connection db = open()) {
                    value(db, isPostgres ? "select pg_sleep(0.5)" : "select sleep(0.5)");
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(30, TimeUnit.SECONDS);
        }
        threads.shutdown();
        // One after the other on two carriers would be five seconds.
        same(true, System.nanoTime() - began < TimeUnit.MILLISECONDS.toNanos(4_500));
    }

    /** As with sockets of the JDK's under a platform thread, the flag stays and the statement ends by itself. */
    static void interrupt(Connection db) throws SQLException {
        Thread.currentThread().interrupt();
        String found = value(db, "select count(*) from embed_t");
        same(true, Thread.interrupted());
        same("20", found);
    }

    static ExecutorService virtual() throws IOException {
        try {
            Method make = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
            return (ExecutorService) make.invoke(null);
        } catch (ReflectiveOperationException none) {
            return null;
        }
    }
}
