//! Reads a log line by line, in constant memory. It can be compressed.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use indicatif::ProgressBar;
use orbgate_log::LINE_LIMIT;

use crate::decompress::decompressed;
use crate::input::{Input, cannot_read};
use crate::output::Stop;
use crate::progress;

/// The size of the buffers for input and output, in bytes.
pub(crate) const BUFFER: usize = 256 * 1024;

/// How some programs begin a file in UTF-8. It isn't part of the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(crate) struct Log {
    name: String,
    pub(crate) reader: BufReader<Box<dyn Read>>,
    pub(crate) position: u64,
    pub(crate) bar: ProgressBar,
}

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Fits,
    TooLong,
    /// There are no more lines.
    End,
}

impl Log {
    pub(crate) fn open(file: &Path) -> Result<Self, Stop> {
        let Input { name, reader, size } = Input::open(file).map_err(Stop::Error)?;
        let opened = decompressed(reader).map_err(|error| Stop::Error(cannot_read(&name, &error)))?;
        let (reader, is_compressed) = opened;
        // How much of a compressed file is left isn't known.
        let size = size.filter(|_| !is_compressed);
        let reader = BufReader::with_capacity(BUFFER, reader);
        Ok(Self { name, reader, position: 0, bar: progress::bar(size) })
    }

    /// Whether the next line is already complete in the buffer.
    pub(crate) fn has_line(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }

    /// Reads the next line into `line`, without its line ending.
    pub(crate) fn read(&mut self, line: &mut Vec<u8>) -> Result<Length, String> {
        line.clear();
        let length = self.read_up_to_limit(line);
        length.map_err(|error| cannot_read(&self.name, &error))
    }

    fn read_up_to_limit(&mut self, line: &mut Vec<u8>) -> io::Result<Length> {
        let most = u64::try_from(LINE_LIMIT).unwrap_or(u64::MAX).saturating_add(1);
        let mut read = self.reader.by_ref().take(most).read_until(b'\n', line)?;
        line.pop_if(|last| *last == b'\n');
        let length = match read {
            0 => Length::End,
            _ if line.len() > LINE_LIMIT => Length::TooLong,
            _ => Length::Fits,
        };
        if self.position == 0 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if length == Length::TooLong {
            read = read.saturating_add(self.reader.skip_until(b'\n')?);
        }
        self.position = self.position.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(length)
    }
}
