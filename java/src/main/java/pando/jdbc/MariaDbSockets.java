package pando.jdbc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import org.mariadb.jdbc.Configuration;
import org.mariadb.jdbc.util.ConfigurableSocketFactory;

/** What MariaDB's Connector/J asks for sockets. */
public final class MariaDbSockets extends ConfigurableSocketFactory {
    private String engine;

    @Override
    public void setConfiguration(Configuration configuration, String host) {
        engine = configuration.nonMappedOptions().getProperty("pandoEngine");
    }

    @Override
    public Socket createSocket() throws IOException {
        return new PandoSocket(Engine.named(engine).connect(Native.MYSQL));
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
        return createSocket();
    }
}
