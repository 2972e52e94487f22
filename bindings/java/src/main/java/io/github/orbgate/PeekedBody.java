package io.github.orbgate;

import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The body of a request, whose start is read to find out whether the request allows bonus orbs. The stream has all bytes
 * of the body. The filters use it with {@code bonusFromBody}.
 */
public final class PeekedBody extends FilterInputStream {
    private static final int PIECE = 4 << 10;

    private final byte[] start;
    private final BonusOrbs bonus;
    /** The number of bytes of the start that were read again. */
    private int next;

    /**
     * Reads a body to its end, but at most one byte more than this limit. A longer body allows no bonus orbs, and neither does one that
     * cannot be read.
     */
    public PeekedBody(InputStream body, int limit) {
        super(body);
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        boolean isWhole = isRead(body, limit, read);
        start = read.toByteArray();
        bonus = isWhole ? BonusOrbs.in(start) : BonusOrbs.REFUSE;
    }

    private static boolean isRead(InputStream body, int limit, ByteArrayOutputStream read) {
        byte[] piece = new byte[PIECE];
        try {
            while (read.size() <= limit) {
                int count = body.read(piece, 0, (int) Math.min(piece.length, (long) limit + 1 - read.size()));
                if (count < 0) {
                    return true;
                }
                read.write(piece, 0, count);
            }
        } catch (IOException failed) {
            // The handler sees the failure after the bytes that were read.
        }
        return false;
    }

    /** Whether the body allows bonus orbs. */
    public BonusOrbs bonus() {
        return bonus;
    }

    /** Whether the bytes that the gate has read have all been read again. */
    public boolean isReadAgain() {
        return next == start.length;
    }

    @Override
    public int read() throws IOException {
        return next < start.length ? start[next++] & 0xff : super.read();
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        int count = Math.min(length, start.length - next);
        if (count <= 0) {
            return super.read(to, offset, length);
        }
        System.arraycopy(start, next, to, offset, count);
        next += count;
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        int skipped = (int) Math.min(Math.max(count, 0), start.length - next);
        next += skipped;
        return skipped > 0 ? skipped : super.skip(count);
    }

    @Override
    public int available() throws IOException {
        return next < start.length ? start.length - next : super.available();
    }

    @Override
    public boolean markSupported() {
        return false;
    }
}
