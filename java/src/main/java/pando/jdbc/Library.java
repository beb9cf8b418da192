package pando.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Finds and loads the native library: the file that the system property {@code pando.library} names, else the one in the jar, which is unpacked
 * into a folder of its own below {@code pando.unpack} (by default {@code java.io.tmpdir}).
 */
final class Library {
    private static final String NAME = "libpando_jni.so";

    private Library() {}

    static void load() {
        String given = System.getProperty("pando.library");
        if (given != null) {
            System.load(Path.of(given).toAbsolutePath().toString());
            return;
        }
        Path folder = Path.of(System.getProperty("pando.unpack", System.getProperty("java.io.tmpdir")));
        String resource = "/native/" + platform() + "/" + NAME;
        // A class loader of its own has a file of its own: the JVM loads a file once.
        try (InputStream packed = Library.class.getResourceAsStream(resource)) {
            if (packed == null) {
                throw new UnsatisfiedLinkError("this jar has no " + resource + "; name the library by -Dpando.library=/path/" + NAME);
            }
            Path own = Files.createTempDirectory(folder, "pando");
            Path file = own.resolve(NAME);
            try {
                Files.copy(packed, file, StandardCopyOption.REPLACE_EXISTING);
                System.load(file.toAbsolutePath().toString());
            } finally {
                // What is loaded stays mapped.
                Files.deleteIfExists(file);
                Files.deleteIfExists(own);
            }
        } catch (IOException error) {
            throw unusable(folder, error);
        } catch (UnsatisfiedLinkError error) {
            if (String.valueOf(error.getMessage()).contains("failed to map")) {
                throw unusable(folder, error);
            }
            throw error;
        }
    }

    private static UnsatisfiedLinkError unusable(Path folder, Throwable why) {
        UnsatisfiedLinkError error = new UnsatisfiedLinkError("Pando's library cannot be unpacked into `" + folder + "` and run from there (" + why.getMessage()
                + "); name a folder that allows it by -Dpando.unpack=/path, or the library itself by -Dpando.library=/path/" + NAME);
        error.initCause(why);
        return error;
    }

    private static String platform() {
        String machine = System.getProperty("os.arch");
        return System.getProperty("os.name").toLowerCase() + "-" + (machine.equals("amd64") ? "x86_64" : machine);
    }
}
