package io.github.orbgate;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The form of messages, which {@code docs/messages.md} describes. A field is a number, a length and its bytes. */
final class Wire {
    private Wire() {}

    /** In the number of a field: a host that doesn't know the field must deny. */
    static final int CRITICAL = 1 << 31;

    private static final int HEAD = 8;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    static OrbgateException refused() {
        return new OrbgateException("the library's answer is unknown or malformed: use a library of this package's release");
    }

    /** Writes fields into memory that the library can read. */
    static final class Writer {
        private NativeBuffer memory;
        private ByteBuffer to;

        /** Starts a message at this offset of a buffer. */
        Writer(NativeBuffer memory, int start) {
            use(memory, start);
        }

        private void use(NativeBuffer buffer, int position) {
            memory = buffer;
            to = buffer.bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(position);
        }

        /** The buffer that the message is in: the first one, or a larger one that starts with the same bytes. */
        NativeBuffer memory() {
            return memory;
        }

        /** Where the message ends. */
        int end() {
            return to.position();
        }

        /** A field that is left out if it is 0. */
        void put(int number, long value) {
            if (value != 0) {
                head(number, Long.BYTES);
                to.putLong(value);
            }
        }

        /** A field that is there if this is true. */
        void put(int number, boolean isThere) {
            if (isThere) {
                head(number, 0);
            }
        }

        /** A field that is left out if it is empty. */
        void put(int number, byte[] bytes) {
            if (bytes.length > 0) {
                item(number, bytes);
            }
        }

        void put(int number, String text) {
            put(number, Text.bytes(text, "a string"));
        }

        /** A field that is there even if it is empty. */
        void item(int number, byte[] bytes) {
            head(number, bytes.length);
            to.put(bytes);
        }

        void item(int number, String text) {
            item(number, Text.bytes(text, "a string"));
        }

        /** Begins a field of fields. The result is for {@link #end}. */
        int begin(int number) {
            head(number, 0);
            return to.position();
        }

        void end(int start) {
            to.putInt(start - Integer.BYTES, to.position() - start);
        }

        private void head(int number, int length) {
            int used = to.position();
            if (to.remaining() < (long) HEAD + length) {
                use(memory.grown(used, (long) used + HEAD + length), used);
            }
            to.putLong(Integer.toUnsignedLong(number) | (long) length << Integer.SIZE);
        }
    }

    /** Reads fields. A message that the library must not have written is an {@link OrbgateException}. */
    static final class Reader {
        private final byte[] bytes;
        private final int end;
        /** Where the bytes of the current field start. */
        private int start;
        /** Where they end, and the next field starts. */
        private int next;
        /** A bit for each known field that isn't a list's. */
        private int seen;

        /** Reads a whole message. */
        Reader(byte[] message) {
            this(message, 0, message.length);
        }

        private Reader(byte[] bytes, int from, int end) {
            this.bytes = bytes;
            this.end = end;
            next = from;
        }

        boolean hasNext() {
            return next < end;
        }

        /** Goes to the next field, and returns its number. */
        int next() {
            if (end - next < HEAD) {
                throw refused();
            }
            long head = (long) LONG.get(bytes, next);
            start = next + HEAD;
            long length = head >>> Integer.SIZE;
            if (length > end - start) {
                throw refused();
            }
            next = start + (int) length;
            return (int) head;
        }

        /** Goes to the only field. */
        int onlyField() {
            int number = next();
            if (hasNext()) {
                throw refused();
            }
            return number;
        }

        /** Checks that a known field, whose number is less than 32, is there for the first time. */
        Reader once(int known) {
            int bit = 1 << known;
            if ((seen & bit) != 0) {
                throw refused();
            }
            seen |= bit;
            return this;
        }

        /** Passes over an unknown field. */
        void skip(int number) {
            if ((number & CRITICAL) != 0) {
                throw refused();
            }
        }

        long integer() {
            if (next - start != Long.BYTES) {
                throw refused();
            }
            return (long) LONG.get(bytes, start);
        }

        /** A boolean has no bytes, and is true because it is there. */
        boolean isThere() {
            if (next != start) {
                throw refused();
            }
            return true;
        }

        String text() {
            return new String(bytes, start, next - start, StandardCharsets.UTF_8);
        }

        byte[] bytes() {
            return Arrays.copyOfRange(bytes, start, next);
        }

        /** The fields of the current field. */
        Reader part() {
            return new Reader(bytes, start, next);
        }
    }
}
