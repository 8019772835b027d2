//! Streams of bytes that show damage: blocks, each with its length and its sum.
//!
//! Invariant: a reader hands out no byte of a block before the block's sum was
//! found right. A sum depends on all blocks before it, and the last block is
//! empty, so that a stream that was cut short or pieced together is refused.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use std::io::{self, Read, Write};

/// Bytes of a full block.
const BLOCK: usize = 1 << 20;

fn sum(block: &[u8], before: u64) -> u64 {
    rapidhash_v3_seeded(block, &RapidSecrets::seed_cpp(before))
}

pub struct BlockWriter<W: Write> {
    to: W,
    block: Vec<u8>,
    sum: u64,
}

impl<W: Write> BlockWriter<W> {
    pub fn new(to: W) -> BlockWriter<W> {
        BlockWriter { to, block: Vec::with_capacity(BLOCK), sum: 0 }
    }

    /// Writes what is left and the mark of the end.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.end_block()?;
        Ok(self.to)
    }

    fn end_block(&mut self) -> io::Result<()> {
        self.sum = sum(&self.block, self.sum);
        self.to.write_all(&(self.block.len() as u32).to_le_bytes())?;
        self.to.write_all(&self.block)?;
        self.to.write_all(&self.sum.to_le_bytes())?;
        self.block.clear();
        Ok(())
    }
}

impl<W: Write> Write for BlockWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..n]);
        if self.block.len() == BLOCK {
            self.end_block()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Damage is an error of the kind `InvalidData`, an early end one of the kind
/// `UnexpectedEof`.
pub struct BlockReader<R: Read> {
    from: R,
    block: Vec<u8>,
    /// Bytes of the block that were handed out.
    used: usize,
    sum: u64,
    /// The mark of the end was read.
    ended: bool,
}

impl<R: Read> BlockReader<R> {
    pub fn new(from: R) -> BlockReader<R> {
        BlockReader { from, block: Vec::new(), used: 0, sum: 0, ended: false }
    }

    /// Reads to the end, which must be here.
    pub fn finish(mut self) -> io::Result<()> {
        let mut one = [0];
        if self.read(&mut one)? > 0 || self.from.read(&mut one)? > 0 {
            return Err(damaged());
        }
        Ok(())
    }

    fn next_block(&mut self) -> io::Result<()> {
        let mut len = [0; 4];
        self.from.read_exact(&mut len)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > BLOCK {
            return Err(damaged());
        }
        self.block.resize(len, 0);
        self.used = 0;
        self.from.read_exact(&mut self.block)?;
        let mut written = [0; 8];
        self.from.read_exact(&mut written)?;
        self.sum = sum(&self.block, self.sum);
        if u64::from_le_bytes(written) != self.sum {
            self.block.clear();
            return Err(damaged());
        }
        self.ended = len == 0;
        Ok(())
    }
}

impl<R: Read> Read for BlockReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.used == self.block.len() && !self.ended {
            self.next_block()?;
        }
        let n = to.len().min(self.block.len() - self.used);
        to[..n].copy_from_slice(&self.block[self.used..][..n]);
        self.used += n;
        Ok(n)
    }
}

/// What was read cannot be what was written.
pub fn damaged() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

pub fn write_number(to: &mut dyn Write, number: u64) -> io::Result<()> {
    to.write_all(&number.to_le_bytes())
}

pub fn read_number(from: &mut dyn Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8]) -> Vec<u8> {
        let mut writer = BlockWriter::new(Vec::new());
        writer.write_all(bytes).expect("memory takes all");
        writer.finish().expect("memory takes all")
    }

    fn read(stream: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut reader = BlockReader::new(stream);
        reader.read_to_end(&mut bytes)?;
        reader.finish()?;
        Ok(bytes)
    }

    #[test]
    fn what_was_written_is_read() {
        for len in [0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + i / 300) as u8).collect();
            assert_eq!(read(&written(&bytes)).expect("it is whole"), bytes, "{len}");
        }
    }

    #[test]
    fn damage_is_seen() {
        let stream = written(&[5; 3000]);
        for at in 0..stream.len() {
            let mut flipped = stream.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(read(&flipped).is_err(), "bit flipped at {at}");
            assert!(read(&stream[..at]).is_err(), "cut at {at}");
        }
        let longer = [&stream[..], &[0]].concat();
        assert!(read(&longer).is_err());
    }
}
