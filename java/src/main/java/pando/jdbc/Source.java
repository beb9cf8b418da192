package pando.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

/**
 * Where a configuration is, as a URL says it behind {@code jdbc:pando:}: a path of a file or a folder, {@code classpath:pando.yaml}, or
 * {@code zookeeper://host:port,host:port/namespace} and {@code etcd://…} of a cluster.
 */
final class Source {
    private final String place;

    Source(String place) {
        this.place = place;
    }

    String name() {
        return place;
    }

    /** The number of its engine. */
    long open() {
        if (place.startsWith("classpath:")) {
            String resource = place.substring("classpath:".length());
            return Native.open(null, resource, text(resource), null, null);
        }
        if (place.startsWith("zookeeper://") || place.startsWith("etcd://")) {
            return Native.open(null, place, cluster(), null, null);
        }
        return Native.open(place, null, null, null, null);
    }

    private static String text(String resource) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        loader = loader == null ? Source.class.getClassLoader() : loader;
        try (InputStream found = loader.getResourceAsStream(resource)) {
            if (found == null) {
                throw new IllegalArgumentException("there is no `" + resource + "` on the class path");
            }
            return new String(found.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            throw new IllegalArgumentException("`" + resource + "` cannot be read: " + error.getMessage(), error);
        }
    }

    private String cluster() {
        int scheme = place.indexOf("://");
        int slash = place.indexOf('/', scheme + 3);
        String kind = place.startsWith("etcd") ? "etcd" : "ZooKeeper";
        String lists = slash < 0 ? place.substring(scheme + 3) : place.substring(scheme + 3, slash);
        String namespace = slash < 0 || slash + 1 == place.length() ? "governance_ds" : place.substring(slash + 1);
        if (kind.equals("etcd")) {
            lists = "http://" + lists.replace(",", ",http://");
        }
        return "mode:\n  type: Cluster\n  repository:\n    type: " + kind + "\n    props:\n      namespace: \"" + namespace
                + "\"\n      server-lists: \"" + lists + "\"\n";
    }

    static SQLException wrong(String what, Exception why) {
        return new SQLException(what + ": " + why.getMessage(), "08001", why);
    }
}
