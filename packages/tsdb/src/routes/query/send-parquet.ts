import type { FileSystem } from '@plinth/kernel';
import type { FastifyReply } from 'fastify';
import type { ParquetFile } from '../../domain/engine/engine.js';
import { PARQUET_TYPE } from '../formats/index.js';
import { streamOf } from './stream-of.js';

const PIECE_BYTES = 256 * 1024;

/** Streams the file as the client takes it; it is removed when it has been sent or the client has gone. */
export async function sendParquet(
  file: ParquetFile,
  files: FileSystem,
  reply: FastifyReply,
): Promise<void> {
  const pieces = readAndDispose(file, files);
  // The first piece is read here, so that a file that cannot be read has a status and is removed in any case.
  const first = await pieces.next();
  reply
    .header('content-type', PARQUET_TYPE)
    .header('content-length', String(file.sizeBytes))
    .send(first.done ? Buffer.alloc(0) : streamOf(first.value, pieces));
}

async function* readAndDispose(
  file: ParquetFile,
  files: FileSystem,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    const handle = await files.open(file.path, 'r');
    try {
      for (let position = 0; position < file.sizeBytes; ) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, file.sizeBytes - position));
        const readBytes = await handle.read(piece, position);
        yield piece.subarray(0, readBytes);
        position += readBytes;
        if (readBytes === 0) throw new Error(`${file.path} is shorter than it was`);
      }
    } finally {
      await handle.close();
    }
  } finally {
    await file.dispose();
  }
}
