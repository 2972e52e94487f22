//! Decompresses logs, recognised by their first bytes. A log of lines never begins with these.

use std::io::{self, Cursor, Read};

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The bytes of a log, decompressed if it is compressed, and whether it is. The error explains why it can't be read.
pub(crate) fn decompressed(mut reader: Box<dyn Read>) -> io::Result<(Box<dyn Read>, bool)> {
    let mut start = Vec::new();
    while [GZIP, ZSTD].iter().any(|magic| start.len() < magic.len() && magic.starts_with(&start)) {
        // More bytes than these aren't waited for: the first line might be followed by nothing for a while.
        if reader.by_ref().take(1).read_to_end(&mut start)? == 0 {
            break;
        }
    }
    let format = match &*start {
        GZIP => Some(GZIP),
        ZSTD => Some(ZSTD),
        _ => None,
    };
    let reader = Cursor::new(start).chain(reader);
    match format {
        None => Ok((Box::new(reader), false)),
        Some(format) => Ok((of(format, reader)?, true)),
    }
}

#[cfg(not(feature = "compressed"))]
fn of(format: &[u8], _: impl Read) -> io::Result<Box<dyn Read>> {
    let program = if format == GZIP { "gzip" } else { "zstd" };
    Err(io::Error::other(format!(
        "it is compressed, which this build doesn't read: use `{program} -dc FILE | orbgate …`; or from a clone: \
         cargo install --locked --path crates/orbgate-cli --features compressed"
    )))
}

#[cfg(feature = "compressed")]
fn of(format: &[u8], reader: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let reader = io::BufReader::new(reader);
    let reader: Box<dyn Read> = if format == GZIP {
        Box::new(flate2::bufread::MultiGzDecoder::new(reader))
    } else {
        Box::new(zstd::Frames::new(reader))
    };
    Ok(Box::new(Bounded { reader, left: orbgate_log::DECOMPRESSED_LIMIT }))
}

/// Bytes up to a limit. More are an error.
#[cfg(feature = "compressed")]
struct Bounded<R> {
    reader: R,
    left: u64,
}

#[cfg(feature = "compressed")]
impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(to)?;
        let left = u64::try_from(read).ok().and_then(|read| self.left.checked_sub(read));
        self.left = left.ok_or_else(|| {
            io::Error::other("it is longer than 64 GiB when decompressed; pass it decompressed, on standard input")
        })?;
        Ok(read)
    }
}

#[cfg(feature = "compressed")]
mod zstd {
    //! The frames of a zstd file, one after the other. `ruzstd` reads one.

    use std::io::{self, BufRead, Read};

    use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
    use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

    pub(super) struct Frames<R> {
        source: R,
        decoder: FrameDecoder,
        is_in_frame: bool,
    }

    impl<R: BufRead> Frames<R> {
        pub(super) fn new(source: R) -> Self {
            Self { source, decoder: FrameDecoder::new(), is_in_frame: false }
        }

        /// Begins the next frame. False at the end.
        fn begin(&mut self) -> io::Result<bool> {
            while !self.source.fill_buf()?.is_empty() {
                match self.decoder.reset(&mut self.source) {
                    Ok(()) => return Ok(true),
                    Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                        length, ..
                    })) => {
                        let skipped = io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                        if skipped < length.into() {
                            return Err(io::ErrorKind::UnexpectedEof.into());
                        }
                    }
                    Err(error) => return Err(io::Error::other(error)),
                }
            }
            Ok(false)
        }

        /// The end of a frame, whose checksum has to be right if it has one.
        fn end(&mut self) -> io::Result<()> {
            self.is_in_frame = false;
            let written = self.decoder.get_checksum_from_data();
            let is_right = written.is_none() || written == self.decoder.get_calculated_checksum();
            is_right.then_some(()).ok_or_else(|| io::Error::other("the checksum of a zstd frame is wrong"))
        }
    }

    impl<R: BufRead> Read for Frames<R> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            loop {
                if !self.is_in_frame {
                    self.is_in_frame = self.begin()?;
                    if !self.is_in_frame {
                        return Ok(0);
                    }
                }
                while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                    let one = BlockDecodingStrategy::UptoBlocks(1);
                    self.decoder.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
                }
                let read = self.decoder.read(to)?;
                if read > 0 || to.is_empty() {
                    return Ok(read);
                }
                self.end()?;
            }
        }
    }
}

#[cfg(all(test, feature = "compressed"))]
mod tests {
    use std::io::Read as _;

    use super::Bounded;

    #[test]
    fn more_than_the_limit_is_an_error() {
        for (left, is_read) in [(4, true), (3, true), (2, false), (0, false)] {
            let mut bounded = Bounded { reader: &b"abc"[..], left };
            let mut read = Vec::new();
            assert_eq!(bounded.read_to_end(&mut read).is_ok(), is_read, "{left}");
        }
    }
}
