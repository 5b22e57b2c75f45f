import type { FileSystem, HttpAnswer } from '@plinth/kernel';
import type { ParquetFile } from '../../domain/engine/engine.js';
import { PARQUET_TYPE } from '../formats/index.js';

const PIECE_BYTES = 256 * 1024;

/** The file as the client takes it; it is removed when it has been sent or the client has gone. */
export async function parquetAnswer(file: ParquetFile, files: FileSystem): Promise<HttpAnswer> {
  const rest = readAndDispose(file, files);
  // The first piece is read here, so that a file that cannot be read has a status and is removed in any case.
  const first = await rest.next();
  const answer = {
    status: 200,
    headers: [['content-type', PARQUET_TYPE]],
    sizeBytes: file.sizeBytes,
  } as const;
  return first.done ? { ...answer, body: Buffer.alloc(0) } : { ...answer, body: first.value, rest };
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
