package pando.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;

/** A channel to the engine as drivers want it. Addresses, keep-alive and buffer sizes mean nothing here and are taken as they come. */
final class PandoSocket extends Socket {
    private final Channel channel;
    private volatile int timeout;

    PandoSocket(Channel channel) {
        this.channel = channel;
    }

    private final InputStream input = new InputStream() {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int count) throws IOException {
            refuseClosed();
            return channel.read(bytes, offset, count, timeout);
        }

        @Override
        public int available() throws IOException {
            refuseClosed();
            return channel.available();
        }

        @Override
        public void close() {
            PandoSocket.this.close();
        }
    };

    private final OutputStream output = new OutputStream() {
        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            refuseClosed();
            channel.write(bytes, offset, count);
        }

        @Override
        public void close() {
            PandoSocket.this.close();
        }
    };

    private void refuseClosed() throws SocketException {
        if (channel.isClosed()) {
            throw new SocketException("Socket closed");
        }
    }

    @Override
    public void connect(SocketAddress where) {}

    @Override
    public void connect(SocketAddress where, int limit) {}

    @Override
    public void bind(SocketAddress where) {}

    @Override
    public InputStream getInputStream() {
        return input;
    }

    @Override
    public OutputStream getOutputStream() {
        return output;
    }

    @Override
    public void close() {
        channel.close();
    }

    @Override
    public void shutdownInput() {}

    @Override
    public void shutdownOutput() {}

    @Override
    public boolean isClosed() {
        return channel.isClosed();
    }

    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public boolean isBound() {
        return true;
    }

    @Override
    public boolean isInputShutdown() {
        return channel.isClosed();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.isClosed();
    }

    @Override
    public void setSoTimeout(int milliseconds) {
        timeout = milliseconds;
    }

    @Override
    public int getSoTimeout() {
        return timeout;
    }

    @Override
    public InetAddress getInetAddress() {
        return InetAddress.getLoopbackAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return InetAddress.getLoopbackAddress();
    }

    @Override
    public int getPort() {
        return 0;
    }

    @Override
    public int getLocalPort() {
        return 0;
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return new InetSocketAddress(getInetAddress(), 0);
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return new InetSocketAddress(getInetAddress(), 0);
    }

    @Override
    public void setTcpNoDelay(boolean on) {}

    @Override
    public boolean getTcpNoDelay() {
        return true;
    }

    @Override
    public void setKeepAlive(boolean on) {}

    @Override
    public boolean getKeepAlive() {
        return true;
    }

    @Override
    public void setSoLinger(boolean on, int seconds) {}

    @Override
    public int getSoLinger() {
        return -1;
    }

    @Override
    public void setTrafficClass(int kind) {}

    @Override
    public int getTrafficClass() {
        return 0;
    }

    @Override
    public void setReuseAddress(boolean on) {}

    @Override
    public boolean getReuseAddress() {
        return false;
    }

    @Override
    public void setSendBufferSize(int size) {}

    @Override
    public int getSendBufferSize() {
        return 65536;
    }

    @Override
    public void setReceiveBufferSize(int size) {}

    @Override
    public int getReceiveBufferSize() {
        return 65536;
    }

    @Override
    public String toString() {
        return "PandoSocket";
    }
}
