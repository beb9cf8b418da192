package pando.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Connections of one URL, as pools and frameworks want them. */
public final class PandoDataSource implements DataSource {
    private final Driver driver = new Driver();
    private final Properties properties = new Properties();
    private String url;
    private PrintWriter log;

    /** {@code jdbc:pando:…}, as {@link Driver} says. */
    public void setUrl(String url) {
        this.url = url;
    }

    public String getUrl() {
        return url;
    }

    /** The user that rules of the configuration see; any is right. */
    public void setUser(String user) {
        properties.setProperty("user", user);
    }

    /** A property of the stock driver below. */
    public void setProperty(String name, String value) {
        properties.setProperty(name, value);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return connect(properties);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        Properties own = new Properties();
        properties.stringPropertyNames().forEach(name -> own.setProperty(name, properties.getProperty(name)));
        own.setProperty("user", user);
        return connect(own);
    }

    private Connection connect(Properties own) throws SQLException {
        if (url == null || !driver.acceptsURL(url)) {
            throw new SQLException("the data source has no URL of the form jdbc:pando:…", "08001");
        }
        return driver.connect(url, own);
    }

    @Override
    public PrintWriter getLogWriter() {
        return log;
    }

    @Override
    public void setLogWriter(PrintWriter log) {
        this.log = log;
    }

    @Override
    public void setLoginTimeout(int seconds) {
        properties.setProperty("loginTimeout", String.valueOf(seconds));
    }

    @Override
    public int getLoginTimeout() {
        return Integer.parseInt(properties.getProperty("loginTimeout", "0"));
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return driver.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> kind) throws SQLException {
        if (kind.isInstance(this)) {
            return kind.cast(this);
        }
        throw new SQLException("this is no " + kind.getName());
    }

    @Override
    public boolean isWrapperFor(Class<?> kind) {
        return kind.isInstance(this);
    }
}
