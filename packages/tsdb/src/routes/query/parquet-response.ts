import { type FileSystem, type HttpResponse, piecesResponse } from '@plinth/kernel';
import type { ParquetFile } from '@plinth/tsdb-model/engine.js';
import { PARQUET_TYPE } from '../formats/index.js';

const PIECE_BYTES = 256 * 1024;

/**
 * Sends the file at the client's pace, and deletes it when it was sent or the client disconnects.
 */
export async function parquetResponse(file: ParquetFile, files: FileSystem): Promise<HttpResponse> {
  const headers = [['content-type', PARQUET_TYPE]] as const;
  const response = await piecesResponse(200, headers, readAndDispose(file, files));
  return { ...response, sizeBytes: file.sizeBytes };
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
        if (readBytes === 0) throw new Error(`${file.path} was truncated while it was sent`);
      }
    } finally {
      await handle.close();
    }
  } finally {
    await file.dispose();
  }
}
