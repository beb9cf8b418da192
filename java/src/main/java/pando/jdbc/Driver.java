package pando.jdbc;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Logger;

/**
 * {@code jdbc:pando:/path/to/pando.yaml?database=shop}: a connection of the stock driver of the storage units' family, over a channel to the engine
 * in this process. Properties that are not Pando's own go to that driver.
 */
public final class Driver implements java.sql.Driver {
    private static final String PREFIX = "jdbc:pando:";

    static {
        try {
            DriverManager.registerDriver(new Driver());
        } catch (SQLException error) {
            throw new ExceptionInInitializerError(error);
        }
    }

    @Override
    public boolean acceptsURL(String url) {
        return url != null && url.startsWith(PREFIX);
    }

    @Override
    public Connection connect(String url, Properties given) throws SQLException {
        if (!acceptsURL(url)) {
            return null;
        }
        int question = url.indexOf('?');
        String place = question < 0 ? url.substring(PREFIX.length()) : url.substring(PREFIX.length(), question);
        Properties properties = new Properties();
        given.stringPropertyNames().forEach(name -> properties.setProperty(name, given.getProperty(name)));
        if (question >= 0) {
            read(url.substring(question + 1), properties);
        }
        String named = (String) properties.remove("database");
        try {
            Engine engine = Engine.of(new Source(place));
            String database = named == null ? engine.firstDatabase() : named;
            return Family.of(engine, database).connect(engine, database, properties);
        } catch (IOException | IllegalArgumentException error) {
            throw Source.wrong("Pando's engine cannot be opened", error);
        }
    }

    private static void read(String query, Properties properties) throws SQLException {
        for (String pair : query.split("&")) {
            int is = pair.indexOf('=');
            if (is < 1) {
                throw new SQLException("`" + pair + "` in the URL is no name=value", "08001");
            }
            String value = URLDecoder.decode(pair.substring(is + 1), StandardCharsets.UTF_8);
            properties.setProperty(pair.substring(0, is), value);
        }
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties given) {
        DriverPropertyInfo database = new DriverPropertyInfo("database", null);
        database.description = "the logical database; by default the configuration's first";
        return new DriverPropertyInfo[] {database};
    }

    @Override
    public int getMajorVersion() {
        return 0;
    }

    @Override
    public int getMinorVersion() {
        return 1;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger("pando.jdbc");
    }
}
