package pando.jdbc;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Virtual threads, which JDK 17 does not know. */
final class Threads {
    private static final MethodHandle IS_VIRTUAL = find();

    private Threads() {}

    private static MethodHandle find() {
        try {
            return MethodHandles.lookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }

    static boolean isVirtual() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
