package io.github.orbgate;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

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
        private final int start;
        private NativeBuffer memory;
        private ByteBuffer to;

        /** Starts a message at this offset of a buffer. */
        Writer(NativeBuffer memory, int start) {
            this.start = start;
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

        /** Ends the message, and returns where. */
        int end() {
            end(start + HEAD);
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

        /** A field that is there even if it is empty, but not if it is null. */
        void optional(int number, byte[] bytes) {
            if (bytes != null) {
                item(number, bytes);
            }
        }

        void items(int number, List<byte[]> items) {
            for (byte[] item : items) {
                item(number, item);
            }
        }

        void texts(int number, List<String> texts) {
            for (String text : texts) {
                item(number, Text.bytes(text, "a string"));
            }
        }

        void parts(int number, List<? extends Written> parts) {
            for (Written part : parts) {
                int start = begin(number);
                part.write(this);
                end(start);
            }
        }

        /** Begins a field of fields, such as the message itself. */
        int begin(int number) {
            head(number, 0);
            return to.position();
        }

        private void end(int start) {
            to.putInt(start - Integer.BYTES, to.position() - start);
        }

        private void item(int number, byte[] bytes) {
            head(number, bytes.length);
            to.put(bytes);
        }

        private void head(int number, int length) {
            int used = to.position();
            if (to.remaining() < (long) HEAD + length) {
                use(memory.grown(used, (long) used + HEAD + length), used);
            }
            to.putLong(Integer.toUnsignedLong(number) | (long) length << Integer.SIZE);
        }
    }

    /** Fields that are written. */
    interface Written {
        void write(Writer to);
    }

    /** Fields that are read. */
    abstract static class Read {
        final Reader from;

        Read(Reader from) {
            this.from = from;
        }
    }

    /** Reads the fields of a message or of a part by their numbers. What the library must not have written is an {@link OrbgateException}. */
    static final class Reader {
        /** The numbers of known fields are less. */
        private static final int NUMBERS = 32;

        /** The number of the message. */
        final int number;

        private final byte[] bytes;
        private final int first;
        private final int last;
        /** A bit for each number that a field has, and after those for critical fields. */
        private long present;
        /** The bits of several fields. */
        private long several;
        /** The bits of critical fields, until they are read. */
        private long critical;
        /** Where the bytes of the current field start and end. */
        private int start;
        private int end;

        private Reader(int number, byte[] bytes, int first, int last) {
            this.number = number;
            this.bytes = bytes;
            this.first = first;
            this.last = last;
            for (int at = first; at < last; at = end) {
                int tag = next(at);
                if ((tag & ~CRITICAL) < NUMBERS) {
                    several |= present & bit(tag);
                    present |= bit(tag);
                } else if (tag < 0) {
                    throw refused();
                }
            }
            critical = present & -1L << NUMBERS;
            end = first;
        }

        /** Reads a whole message. */
        static Reader of(byte[] message) {
            long head = message.length < HEAD ? 0 : (long) LONG.get(message, 0);
            if (head >>> Integer.SIZE != message.length - HEAD) {
                throw refused();
            }
            return new Reader((int) head, message, HEAD, message.length);
        }

        /** Has no fields. */
        static Reader empty() {
            return new Reader(0, new byte[0], 0, 0);
        }

        private static long bit(int tag) {
            return 1L << (tag & NUMBERS - 1 | (tag < 0 ? NUMBERS : 0));
        }

        /** Goes to the field that starts there, and returns its number. */
        private int next(int at) {
            if (last - at < HEAD) {
                throw refused();
            }
            long head = (long) LONG.get(bytes, at);
            long length = head >>> Integer.SIZE;
            start = at + HEAD;
            if (length > last - start) {
                throw refused();
            }
            end = start + (int) length;
            return (int) head;
        }

        /** Goes to the field with this number, if it is there, which it can only be once. */
        private boolean find(int tag) {
            long bit = bit(tag);
            if ((present & bit) == 0) {
                return false;
            }
            if ((several & bit) != 0) {
                throw refused();
            }
            critical &= ~bit;
            // As a rule, it is the next one.
            if (end == last || next(end) != tag) {
                for (end = first; next(end) != tag;) {}
            }
            return true;
        }

        /** Checks that no field is left that a host must know. */
        void end() {
            if (critical != 0) {
                throw refused();
            }
        }

        long integer(int tag) {
            if (!find(tag)) {
                return 0;
            }
            if (end - start != Long.BYTES) {
                throw refused();
            }
            return (long) LONG.get(bytes, start);
        }

        /** A boolean has no bytes, and is true because it is there. */
        boolean isThere(int tag) {
            if (!find(tag)) {
                return false;
            }
            if (end != start) {
                throw refused();
            }
            return true;
        }

        String text(int tag, String absent) {
            return find(tag) ? new String(bytes, start, end - start, StandardCharsets.UTF_8) : absent;
        }

        byte[] bytes(int tag, byte[] absent) {
            return find(tag) ? Arrays.copyOfRange(bytes, start, end) : absent;
        }

        <T> T part(int tag, Function<Reader, T> read) {
            return find(tag) ? inner(read) : null;
        }

        <T> List<T> parts(int tag, Function<Reader, T> read) {
            List<T> parts = new ArrayList<>();
            critical &= ~bit(tag);
            for (int at = first; at < last; at = end) {
                if (next(at) == tag) {
                    parts.add(inner(read));
                }
            }
            return parts;
        }

        private <T> T inner(Function<Reader, T> read) {
            Reader fields = new Reader(0, bytes, start, end);
            T part = read.apply(fields);
            fields.end();
            return part;
        }
    }
}
