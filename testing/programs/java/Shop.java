import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

/** A small program over any of the two drivers: URL FAMILY; one `ok` or `FAILED` line per case. */
public class Shop {
    interface Case { void run() throws Exception; }

    static String url, family;
    static boolean failed;
    static Connection db;

    public static void main(String[] words) throws Exception {
        url = words[0];
        family = words[1];
        db = DriverManager.getConnection(url);
        test("create", Shop::create);
        test("batch-of-prepared-inserts", Shop::batch);
        test("server-side-prepare", Shop::prepared);
        test("types-come-back", Shop::types);
        test("fetch-size-inside-a-transaction", Shop::fetchSize);
        test("two-open-results", Shop::twoOpenResults);
        test("row-by-row-stream", Shop::stream);
        test("commit-and-rollback", Shop::transactions);
        test("savepoint", Shop::savepoint);
        test("aggregates", Shop::aggregates);
        test("join-of-binding-tables", Shop::join);
        test("update-counts", Shop::updateCounts);
        test("generated-keys", Shop::generatedKeys);
        test("errors", Shop::errors);
        test("metadata-shows-logic-tables", Shop::metadata);
        test("updatable-rows", Shop::updatableRows);
        test("isolation-and-read-only", Shop::sessionSettings);
        test("prepared-across-a-new-column", Shop::newColumn);
        test("drop", Shop::drop);
        db.close();
        System.exit(failed ? 1 : 0);
    }

    static void create() throws Exception {
        String stamp = isPostgres() ? "timestamp" : "datetime(6)", bytes = isPostgres() ? "bytea" : "blob";
        run("create table t_order (order_id bigint not null primary key, user_id int not null, status varchar(32), amount decimal(10,2), made "
                + stamp + ", ratio double precision, payload " + bytes + ", day date)");
        run("create table t_order_item (item_id bigint not null primary key, order_id bigint not null, user_id int not null)");
        run("create table t_log (id bigint not null primary key, line varchar(50))");
    }

    static void batch() throws Exception {
        try (PreparedStatement insert = db.prepareStatement("insert into t_order values (?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int i = 1; i <= 100; i++) {
                insert.setLong(1, i);
                insert.setInt(2, i % 7);
                insert.setString(3, "s" + i % 3);
                insert.setBigDecimal(4, quarter(i));
                insert.setTimestamp(5, Timestamp.valueOf("2024-02-29 12:30:15"));
                insert.setDouble(6, i / 8.0);
                insert.setBytes(7, new byte[] {(byte) i, 0, (byte) 255});
                insert.setDate(8, java.sql.Date.valueOf("2024-02-29"));
                insert.addBatch();
            }
            equal(insert.executeBatch().length, 100);
        }
        try (PreparedStatement insert = db.prepareStatement("insert into t_order_item (item_id, order_id, user_id) values (?, ?, ?)")) {
            for (int i = 1; i <= 100; i++) {
                insert.setLong(1, 1000 + i);
                insert.setLong(2, i);
                insert.setInt(3, i % 7);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        equal(one("select count(*) from t_order"), "100");
        equal(one("select count(*) from t_order_item"), "100");
    }

    static void prepared() throws Exception {
        try (PreparedStatement select = db.prepareStatement("select user_id, amount from t_order where order_id = ?")) {
            for (int i = 1; i <= 100; i++) {
                select.setLong(1, i);
                try (ResultSet rows = select.executeQuery()) {
                    equal(rows.next(), true);
                    equal(rows.getInt(1), i % 7);
                    equal(rows.getBigDecimal(2), quarter(i));
                    equal(rows.next(), false);
                }
            }
        }
    }

    static void types() throws Exception {
        try (PreparedStatement select = db.prepareStatement("select * from t_order where order_id = ? and user_id = ?")) {
            for (int again = 0; again < 6; again++) {
                select.setLong(1, 9);
                select.setInt(2, 2);
                try (ResultSet rows = select.executeQuery()) {
                    rows.next();
                    equal(rows.getLong("order_id"), 9L);
                    equal(rows.getString("status"), "s0");
                    equal(rows.getTimestamp("made"), Timestamp.valueOf("2024-02-29 12:30:15"));
                    equal(rows.getDouble("ratio"), 1.125);
                    equal(Arrays.toString(rows.getBytes("payload")), "[9, 0, -1]");
                    equal(rows.getDate("day").toString(), "2024-02-29");
                }
            }
        }
        try (PreparedStatement update = db.prepareStatement("update t_order set status = ? where order_id = ?")) {
            update.setNull(1, Types.VARCHAR);
            update.setLong(2, 9);
            equal(update.executeUpdate(), 1);
        }
        equal(one("select status from t_order where order_id = 9"), null);
    }

    static void fetchSize() throws Exception {
        db.setAutoCommit(false);
        try (PreparedStatement select = db.prepareStatement("select order_id from t_order where order_id > ? order by order_id")) {
            select.setFetchSize(7);
            select.setLong(1, 0);
            try (ResultSet rows = select.executeQuery()) {
                for (long i = 1; i <= 100; i++) {
                    equal(rows.next(), true);
                    equal(rows.getLong(1), i);
                }
                equal(rows.next(), false);
            }
        } finally {
            db.commit();
            db.setAutoCommit(true);
        }
    }

    /** An open cursor must not hinder another statement of the same session. */
    static void twoOpenResults() throws Exception {
        db.setAutoCommit(false);
        try (PreparedStatement outer = db.prepareStatement("select order_id from t_order where order_id <= ? order by order_id");
                PreparedStatement inner = db.prepareStatement("select user_id from t_order where order_id = ?")) {
            outer.setFetchSize(5);
            outer.setLong(1, 20);
            int seen = 0;
            try (ResultSet rows = outer.executeQuery()) {
                while (rows.next()) {
                    inner.setLong(1, rows.getLong(1));
                    try (ResultSet found = inner.executeQuery()) {
                        found.next();
                        equal(found.getInt(1), (int) (rows.getLong(1) % 7));
                    }
                    seen++;
                }
            }
            equal(seen, 20);
        } finally {
            db.commit();
            db.setAutoCommit(true);
        }
    }

    static void stream() throws Exception {
        try (Statement select = db.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            select.setFetchSize(isPostgres() ? 1 : Integer.MIN_VALUE);
            try (ResultSet rows = select.executeQuery("select order_id from t_order order by order_id desc")) {
                for (long i = 100; i >= 1; i--) {
                    equal(rows.next(), true);
                    equal(rows.getLong(1), i);
                }
            }
        }
    }

    static void transactions() throws Exception {
        try (Connection own = DriverManager.getConnection(url); Statement statement = own.createStatement()) {
            own.setAutoCommit(false);
            equal(statement.executeUpdate("update t_order set status = 'x' where order_id in (1, 2, 3, 4)"), 4);
            own.rollback();
            equal(one("select count(*) from t_order where status = 'x'"), "0");
            equal(statement.executeUpdate("update t_order set status = 'x' where order_id in (1, 2, 3, 4)"), 4);
            equal(one("select count(*) from t_order where status = 'x'"), "0");
            own.commit();
            equal(one("select count(*) from t_order where status = 'x'"), "4");
        }
    }

    static void savepoint() throws Exception {
        db.setAutoCommit(false);
        try {
            run("update t_order set status = 'kept' where order_id in (11, 12)");
            Savepoint point = db.setSavepoint("here");
            run("update t_order set status = 'lost' where order_id in (11, 12, 13)");
            db.rollback(point);
            db.commit();
        } finally {
            db.setAutoCommit(true);
        }
        equal(one("select count(*) from t_order where status = 'kept'"), "2");
        equal(one("select count(*) from t_order where status = 'lost'"), "0");
    }

    static void aggregates() throws Exception {
        try (PreparedStatement select = db.prepareStatement(
                "select user_id, count(*), sum(amount), max(order_id) from t_order where order_id > ? group by user_id order by user_id limit 2");) {
            select.setLong(1, 0);
            try (ResultSet rows = select.executeQuery()) {
                rows.next();
                equal(rows.getInt(1) + " " + rows.getInt(2) + " " + rows.getBigDecimal(3) + " " + rows.getLong(4), "0 14 183.75 98");
                rows.next();
                equal(rows.getInt(1) + " " + rows.getInt(2) + " " + rows.getBigDecimal(3) + " " + rows.getLong(4), "1 15 187.50 99");
                equal(rows.next(), false);
            }
        }
    }

    static void join() throws Exception {
        try (PreparedStatement select = db.prepareStatement("select o.order_id, i.item_id from t_order o join t_order_item i"
                + " on o.order_id = i.order_id and o.user_id = i.user_id where o.order_id in (?, ?) order by i.item_id")) {
            select.setLong(1, 5);
            select.setLong(2, 6);
            try (ResultSet rows = select.executeQuery()) {
                rows.next();
                equal(rows.getLong(1) + " " + rows.getLong(2), "5 1005");
                rows.next();
                equal(rows.getLong(1) + " " + rows.getLong(2), "6 1006");
                equal(rows.next(), false);
            }
        }
    }

    static void updateCounts() throws Exception {
        try (PreparedStatement update = db.prepareStatement("update t_order set status = ? where order_id between ? and ?")) {
            update.setString(1, "many");
            update.setLong(2, 21);
            update.setLong(3, 60);
            equal(update.executeUpdate(), 40);
        }
        try (PreparedStatement delete = db.prepareStatement("delete from t_order_item where order_id > ?")) {
            delete.setLong(1, 90);
            equal(delete.executeUpdate(), 10);
        }
    }

    static void generatedKeys() throws Exception {
        Set<Long> keys = new TreeSet<>();
        try (PreparedStatement insert = isPostgres()
                ? db.prepareStatement("insert into t_log (line) values (?)", new String[] {"id"})
                : db.prepareStatement("insert into t_log (line) values (?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int i = 0; i < 10; i++) {
                insert.setString(1, "line " + i);
                insert.executeUpdate();
                try (ResultSet rows = insert.getGeneratedKeys()) {
                    equal(rows.next(), true);
                    keys.add(rows.getLong(1));
                }
            }
        }
        equal(keys.size(), 10);
        for (long key : keys) {
            equal(one("select count(*) from t_log where id = " + key), "1");
        }
    }

    static void errors() throws Exception {
        refused(isPostgres() ? "23505" : "23000", () -> run("insert into t_order (order_id, user_id) values (2, 2)"));
        refused(isPostgres() ? "42P01" : "42S02", () -> run("select * from nowhere"));
        refused(isPostgres() ? "42601" : "42000", () -> run("selec 1"));
        refused(isPostgres() ? "42P01" : "42S02", () -> {
            try (PreparedStatement select = db.prepareStatement("select * from nowhere where a = ?")) {
                select.setInt(1, 1);
                select.executeQuery();
            }
        });
        equal(one("select 1"), "1");
    }

    static void metadata() throws Exception {
        DatabaseMetaData data = db.getMetaData();
        String catalog = isPostgres() ? null : "shop", schema = isPostgres() ? "public" : null;
        Set<String> tables = new TreeSet<>();
        try (ResultSet rows = data.getTables(catalog, schema, "t\\_%", new String[] {"TABLE"})) {
            while (rows.next()) tables.add(rows.getString("TABLE_NAME"));
        }
        equal(tables.toString(), "[t_log, t_order, t_order_item]");
        List<String> columns = new ArrayList<>();
        try (ResultSet rows = data.getColumns(catalog, schema, "t_order_item", "%")) {
            while (rows.next()) columns.add(rows.getString("COLUMN_NAME"));
        }
        equal(columns.toString(), "[item_id, order_id, user_id]");
        try (ResultSet rows = data.getPrimaryKeys(catalog, schema, "t_order")) {
            equal(rows.next(), true);
            equal(rows.getString("COLUMN_NAME"), "order_id");
        }
        try (PreparedStatement select = db.prepareStatement("select order_id, amount from t_order where order_id = ?")) {
            equal(select.getMetaData().getColumnName(2), "amount");
            equal(select.getMetaData().getTableName(1), "t_order");
        }
        try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery("select amount, order_id from t_order where amount >= 0")) {
            equal(rows.getMetaData().getTableName(2), "t_order");
            equal(rows.getMetaData().isNullable(2), ResultSetMetaData.columnNoNulls);
        }
    }

    /** Rows are changed where they were read, by the primary key that the driver asks the catalogue for. */
    static void updatableRows() throws Exception {
        String sql = "select order_id, user_id, status from t_order where order_id between 3 and 5 order by order_id";
        try (Statement statement = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet rows = statement.executeQuery(sql)) {
            equal(rows.getConcurrency(), ResultSet.CONCUR_UPDATABLE);
            rows.next();
            String before = rows.getString("status");
            rows.updateString("status", "edited");
            rows.updateRow();
            equal(one("select status from t_order where order_id = 3"), "edited");
            rows.updateString("status", before);
            rows.updateRow();
            // Connector/J writes the table in front of the columns of an INSERT, which is a known fault.
            if (!isPostgres()) return;
            rows.moveToInsertRow();
            rows.updateLong("order_id", 9001);
            rows.updateInt("user_id", 2);
            rows.updateString("status", "made");
            rows.insertRow();
            rows.moveToCurrentRow();
        }
        equal(one("select status from t_order where order_id = 9001"), "made");
        String made = "select order_id, user_id, status from t_order where order_id = 9001";
        try (Statement statement = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet rows = statement.executeQuery(made)) {
            rows.next();
            rows.deleteRow();
        }
        equal(one("select count(*) from t_order where order_id = 9001"), "0");
    }

    static void sessionSettings() throws Exception {
        try (Connection own = DriverManager.getConnection(url); Statement statement = own.createStatement()) {
            own.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            own.setReadOnly(true);
            own.setAutoCommit(false);
            try (ResultSet rows = statement.executeQuery("select count(*) from t_order")) {
                rows.next();
                equal(rows.getInt(1), 100);
            }
            refusedAny(() -> statement.executeUpdate("update t_order set status = 'no'"));
            own.rollback();
            own.setAutoCommit(true);
            own.setReadOnly(false);
            equal(own.getTransactionIsolation(), Connection.TRANSACTION_REPEATABLE_READ);
            equal(own.isValid(5), true);
        }
    }

    static void newColumn() throws Exception {
        // Connector/J keeps the columns of the prepare for its cursors, against a server, too.
        if (!isPostgres()) return;
        String sql = "select * from t_log where id = ?";
        run("insert into t_log values (71, 'a'), (72, 'b'), (73, 'c'), (74, 'd')");
        try (PreparedStatement query = db.prepareStatement(sql); Connection other = DriverManager.getConnection(url)) {
            for (int width : new int[] {2, 3, 2}) {
                for (int i = 0; i < 9; i++) {
                    query.setLong(1, 71 + i % 4);
                    try (ResultSet rows = query.executeQuery()) {
                        equal(rows.next() && rows.getMetaData().getColumnCount() == width, true);
                        equal(rows.getString(2), "" + (char) ('a' + i % 4));
                    }
                }
                on(other, width == 2 ? "alter table t_log add column more int" : "alter table t_log drop column more");
            }
        }
        run("alter table t_log drop column more");
        run("delete from t_log where id > 70");
    }

    static void on(Connection other, String sql) throws Exception {
        try (Statement statement = other.createStatement()) {
            statement.execute(sql);
        }
    }

    static void drop() throws Exception {
        for (String table : List.of("t_order", "t_order_item", "t_log")) run("drop table " + table);
    }

    static boolean isPostgres() { return family.equals("pg"); }

    static BigDecimal quarter(int i) { return new BigDecimal(i).divide(new BigDecimal(4)).setScale(2); }

    static void run(String sql) throws SQLException {
        try (Statement statement = db.createStatement()) {
            statement.execute(sql);
        }
    }

    static String one(String sql) throws SQLException {
        try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    static void equal(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) throw new AssertionError("expected " + expected + ", got " + actual);
    }

    static void refused(String state, Case work) throws Exception {
        try {
            work.run();
        } catch (SQLException error) {
            equal(error.getSQLState(), state);
            return;
        }
        throw new AssertionError("nothing was refused, expected " + state);
    }

    static void refusedAny(Case work) throws Exception {
        try {
            work.run();
        } catch (SQLException error) {
            return;
        }
        throw new AssertionError("nothing was refused");
    }

    static void test(String name, Case work) {
        String full = family + "-jdbc-" + name;
        try {
            work.run();
            System.out.println("ok " + full);
        } catch (Exception | AssertionError error) {
            failed = true;
            System.out.println("FAILED " + full + ": " + String.valueOf(error).lines().findFirst().orElse(""));
            for (StackTraceElement frame : error.getStackTrace()) {
                if (frame.getClassName().equals("Shop")) System.out.println("    at " + frame);
            }
            try {
                if (!db.getAutoCommit()) {
                    db.rollback();
                    db.setAutoCommit(true);
                }
            } catch (SQLException ignored) {
                // The next case says what is wrong with the connection.
            }
        }
    }
}
