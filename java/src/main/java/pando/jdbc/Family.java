package pando.jdbc;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;

/** The stock driver below: which one there is, and how it is led to a channel. */
enum Family {
    POSTGRESQL("org.postgresql.Driver", "org.postgresql:postgresql") {
        @Override
        Connection connect(Engine engine, String database, Properties properties) throws SQLException {
            properties.setProperty("socketFactory", PostgresSockets.class.getName());
            properties.setProperty("socketFactoryArg", engine.name());
            properties.setProperty("sslmode", "disable");
            properties.setProperty("gssEncMode", "disable");
            named(properties);
            return driver().connect("jdbc:postgresql://pando/" + URLEncoder.encode(database, StandardCharsets.UTF_8), properties);
        }
    },
    MARIADB("org.mariadb.jdbc.Driver", "org.mariadb.jdbc:mariadb-java-client") {
        @Override
        Connection connect(Engine engine, String database, Properties properties) throws SQLException {
            properties.setProperty("socketFactory", MariaDbSockets.class.getName());
            properties.setProperty("pandoEngine", engine.name());
            properties.setProperty("sslMode", "disable");
            named(properties);
            return driver().connect("jdbc:mariadb://pando/" + URLEncoder.encode(database, StandardCharsets.UTF_8), properties);
        }
    },
    MYSQL("com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j") {
        @Override
        Connection connect(Engine engine, String database, Properties properties) throws SQLException {
            properties.setProperty("socketFactory", MySqlSockets.class.getName());
            properties.setProperty("pandoEngine", engine.name());
            properties.setProperty("sslMode", "DISABLED");
            named(properties);
            return driver().connect("jdbc:mysql://pando/" + URLEncoder.encode(database, StandardCharsets.UTF_8), properties);
        }
    };

    private final String driver;
    private final String artifact;

    Family(String driver, String artifact) {
        this.driver = driver;
        this.artifact = artifact;
    }

    abstract Connection connect(Engine engine, String database, Properties properties) throws SQLException;

    /** That of a database's storage units, by the driver that is there. */
    static Family of(Engine engine, String database) throws IOException, SQLException {
        switch (engine.protocol(database)) {
            case Native.POSTGRESQL:
                return POSTGRESQL;
            case Native.MYSQL:
                return MARIADB.isThere() ? MARIADB : MYSQL;
            default:
                throw new SQLException(database == null ? "the configuration has no database" : "there is no database `" + database + "`", "3D000");
        }
    }

    private boolean isThere() {
        try {
            Class.forName(driver, false, Family.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    java.sql.Driver driver() throws SQLException {
        try {
            return (java.sql.Driver) Class.forName(driver, true, Family.class.getClassLoader()).getConstructor().newInstance();
        } catch (ReflectiveOperationException none) {
            throw new SQLException("the driver of the storage units' family is not on the class path: add " + artifact, "08001", none);
        }
    }

    /** Drivers want a user; the engine takes any. */
    private static void named(Properties properties) {
        if (properties.getProperty("user") == null) {
            properties.setProperty("user", "app");
        }
        if (properties.getProperty("password") == null) {
            properties.setProperty("password", "");
        }
    }
}
