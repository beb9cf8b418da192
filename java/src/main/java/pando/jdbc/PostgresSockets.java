package pando.jdbc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Properties;
import javax.net.SocketFactory;

/** What pgjdbc asks for sockets; also for those that cancel. */
public final class PostgresSockets extends SocketFactory {
    private final String engine;

    /** {@code properties} are all of the connection's. */
    public PostgresSockets(Properties properties) {
        engine = properties.getProperty("socketFactoryArg");
    }

    @Override
    public Socket createSocket() throws IOException {
        return new PandoSocket(Engine.named(engine).connect(Native.POSTGRESQL));
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
