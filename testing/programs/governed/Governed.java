import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A server without any database, configured and used by JDBC: URL OPTIONS FAMILY REGISTER RULE. */
public class Governed {
    interface Work {
        void run() throws Exception;
    }

    static String url, options, family;
    static int failed = 0;

    static void check(String name, Work work) {
        try {
            work.run();
            System.out.println("ok " + family + "-jdbc-" + name);
        } catch (Exception | AssertionError error) {
            failed++;
            System.out.println("FAILED " + family + "-jdbc-" + name + ": " + error);
        }
    }

    static void equal(Object actual, Object expected) {
        if (!actual.equals(expected)) throw new AssertionError("expected " + expected + ", got " + actual);
    }

    static Connection connect(String database) throws SQLException {
        String name = database.isEmpty() && url.contains("postgresql") ? "postgres" : database;
        return DriverManager.getConnection(url + name + options);
    }

    /** The first column of a prepared question. */
    static List<String> asked(Connection connection, String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql); ResultSet rows = statement.executeQuery()) {
            while (rows.next()) found.add(rows.getString(1));
        }
        return found;
    }

    public static void main(String[] arguments) {
        url = arguments[0];
        options = arguments[1];
        family = arguments[2];
        String register = arguments[3], rule = arguments[4];
        check("create-database", () -> {
            try (Connection db = connect(""); Statement statement = db.createStatement()) {
                equal(db.isValid(5), true);
                statement.execute("CREATE DATABASE of_jdbc");
            }
        });
        check("units-and-rule", () -> {
            try (Connection db = connect("of_jdbc"); Statement statement = db.createStatement()) {
                equal(asked(db, "SELECT 1"), List.of("1"));
                statement.execute(register);
                try (PreparedStatement prepared = db.prepareStatement(rule)) {
                    equal(prepared.executeUpdate(), 0);
                }
                statement.execute("CREATE TABLE t_order (id int primary key, name varchar(20))");
            }
        });
        check("rows", () -> {
            try (Connection db = connect("of_jdbc")) {
                try (PreparedStatement insert = db.prepareStatement("INSERT INTO t_order VALUES (?, ?)")) {
                    for (int id = 1; id <= 5; id++) {
                        insert.setInt(1, id);
                        insert.setString(2, "n" + id);
                        insert.addBatch();
                    }
                    insert.executeBatch();
                }
                equal(asked(db, "SELECT id FROM t_order ORDER BY id"), List.of("1", "2", "3", "4", "5"));
            }
        });
        check("questions-prepared-again-and-again", () -> {
            try (Connection db = connect("of_jdbc"); PreparedStatement units = db.prepareStatement("SHOW STORAGE UNITS")) {
                equal(units.getMetaData().getColumnLabel(1), "name");
                for (int round = 0; round < 8; round++) {
                    try (ResultSet rows = units.executeQuery()) {
                        int count = 0;
                        while (rows.next()) count++;
                        equal(count, 2);
                    }
                }
                equal(asked(db, "SHOW SHARDING TABLE RULES"), List.of("t_order"));
            }
        });
        check("nothing-changes-inside-a-transaction", () -> {
            try (Connection db = connect("of_jdbc"); Statement statement = db.createStatement()) {
                db.setAutoCommit(false);
                asked(db, "SELECT id FROM t_order WHERE id = 1");
                try {
                    statement.execute("DROP SHARDING TABLE RULE t_order");
                    throw new AssertionError("the rule was dropped");
                } catch (SQLException refusal) {
                    equal(refusal.getSQLState(), "25001");
                }
                db.rollback();
            }
        });
        check("taken-away", () -> {
            try (Connection db = connect("of_jdbc"); Statement statement = db.createStatement()) {
                statement.execute("DROP TABLE t_order");
                statement.execute("DROP SHARDING TABLE RULE t_order");
            }
            try (Connection db = connect(""); Statement statement = db.createStatement()) {
                statement.execute("DROP DATABASE of_jdbc");
            }
        });
        System.exit(failed == 0 ? 0 : 1);
    }
}
