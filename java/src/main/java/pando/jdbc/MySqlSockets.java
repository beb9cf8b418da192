package pando.jdbc;

import com.mysql.cj.conf.PropertySet;
import com.mysql.cj.protocol.StandardSocketFactory;
import java.net.Socket;

/** What MySQL's Connector/J asks for sockets. */
public final class MySqlSockets extends StandardSocketFactory {
    @Override
    @SuppressWarnings("unchecked")
    public <T extends java.io.Closeable> T connect(String host, int port, PropertySet properties, int loginTimeout) throws java.io.IOException {
        String engine = properties.exposeAsProperties().getProperty("pandoEngine");
        Socket socket = new PandoSocket(Engine.named(engine).connect(Native.MYSQL));
        this.rawSocket = socket;
        return (T) socket;
    }
}
