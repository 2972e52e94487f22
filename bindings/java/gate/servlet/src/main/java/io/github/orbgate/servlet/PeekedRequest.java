package io.github.orbgate.servlet;

import io.github.orbgate.PeekedBody;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A request whose body the gate has read: the service gets the same bytes. */
final class PeekedRequest extends HttpServletRequestWrapper {
    private final Stream stream;
    private BufferedReader reader;

    private PeekedRequest(HttpServletRequest request, Stream stream) {
        super(request);
        this.stream = stream;
    }

    /** The same request if there is nothing to read: a form isn't JSON, and the container reads it itself. */
    static HttpServletRequest of(HttpServletRequest request, int limit) throws IOException {
        String type = String.valueOf(request.getContentType()).toLowerCase(Locale.ROOT);
        long length = request.getContentLengthLong();
        boolean isForm = type.startsWith("application/x-www-form-urlencoded") || type.startsWith("multipart/");
        boolean isThere = length > 0 || length < 0 && !request.getMethod().equals("GET") && !request.getMethod().equals("HEAD");
        if (isForm || !isThere || length > limit) {
            return request;
        }
        ServletInputStream inner = request.getInputStream();
        return new PeekedRequest(request, new Stream(inner, new PeekedBody(inner, limit)));
    }

    PeekedBody body() {
        return stream.body;
    }

    @Override
    public ServletInputStream getInputStream() {
        return stream;
    }

    @Override
    public BufferedReader getReader() {
        if (reader == null) {
            String encoding = getCharacterEncoding();
            Charset charset = encoding == null ? StandardCharsets.ISO_8859_1 : Charset.forName(encoding);
            reader = new BufferedReader(new InputStreamReader(stream, charset));
        }
        return reader;
    }

    private static final class Stream extends ServletInputStream {
        private final ServletInputStream inner;
        private final PeekedBody body;

        Stream(ServletInputStream inner, PeekedBody body) {
            this.inner = inner;
            this.body = body;
        }

        @Override
        public int read() throws IOException {
            return body.read();
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            return body.read(to, offset, length);
        }

        @Override
        public int available() throws IOException {
            return body.available();
        }

        @Override
        public boolean isFinished() {
            return body.isReadAgain() && inner.isFinished();
        }

        @Override
        public boolean isReady() {
            return !body.isReadAgain() || inner.isReady();
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException("with `bonusFromBody`, a body can only be read with blocking calls");
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }
}
