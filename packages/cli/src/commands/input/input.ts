import { once } from 'node:events';
import type { ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '@plinth/kernel';
import { CommandFailed } from '@plinth/server/process/command-failed.js';

const HEAD_BYTES = 4096;
/** Compressed bytes that are decompressed at a time: one byte can expand to a thousand. */
const STEP_BYTES = 64 << 10;

export interface Input {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Size on disk (compressed); undefined for standard input. */
  readonly sizeBytes: number | undefined;
  /** Bytes read from disk so far. */
  readonly readBytes: () => number;
}

/** Opens a file or standard input (`-`). Gzip is detected by the first bytes, not by the file name. */
export async function openInput(file: string, open: (path: string) => ReadStream): Promise<Input> {
  if (file === '-') {
    return {
      bytes: gunzipIfNeeded(process.stdin, 'stdin'),
      sizeBytes: undefined,
      readBytes: () => 0,
    };
  }
  try {
    const { size } = await stat(file);
    const stream = open(file);
    await once(stream, 'open');
    return {
      bytes: gunzipIfNeeded(stream, file),
      sizeBytes: size,
      readBytes: () => stream.bytesRead,
    };
  } catch (error) {
    throw new CommandFailed(`cannot read ${file}: ${messageOf(error)}`);
  }
}

/** Creates an input from an argument instead of a file. */
export const textInput = (text: string): Input => ({
  bytes: Readable.from([Buffer.from(text)]),
  sizeBytes: undefined,
  readBytes: () => 0,
});

async function* gunzipIfNeeded(
  stream: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  const parts = stream[Symbol.asyncIterator]();
  const first = await parts.next();
  if (first.done) return;
  const rest = async function* () {
    yield first.value;
    for (let next = await parts.next(); !next.done; next = await parts.next()) yield next.value;
  };
  if (first.value[0] === 0x1f && first.value[1] === 0x8b) yield* gunzipped(rest(), name);
  else yield* rest();
}

/** Yields all data that can be decompressed before it throws for a truncated or corrupt file. */
async function* gunzipped(
  parts: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let ready: Uint8Array[] = [];
  let failure: Error | undefined;
  let isEnded = false;
  let wake = (): void => {};
  gunzip.on('data', (bytes: Uint8Array) => ready.push(bytes));
  // The compressed data can be followed by zeros, as on tapes.
  gunzip.on('end', () => {
    isEnded = true;
    wake();
  });
  gunzip.on('error', (error) => {
    failure = error;
    wake();
  });
  const step = async function* (run: (done: () => void) => void): AsyncGenerator<Uint8Array> {
    if (isEnded) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
      run(resolve);
    });
    yield* ready;
    ready = [];
    if (failure !== undefined)
      throw new CommandFailed(`${name}: ${failure.message}; the file is truncated or corrupt`);
  };
  try {
    for await (const part of parts) {
      for (let at = 0; at < part.length; at += STEP_BYTES)
        yield* step((done) => gunzip.write(part.subarray(at, at + STEP_BYTES), done));
    }
    // A separate step: if the input ends prematurely, writing and ending together would drop the last bytes.
    yield* step(() => gunzip.end());
  } finally {
    gunzip.destroy();
  }
}

/** Returns the first bytes of an input (at most `HEAD_BYTES`) and the complete input. */
export async function withHead(
  input: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: string; readonly bytes: AsyncIterable<Uint8Array> }> {
  const pieces = input[Symbol.asyncIterator]();
  const first = await pieces.next();
  const head = first.done
    ? ''
    : Buffer.from(first.value.subarray(0, HEAD_BYTES)).toString('latin1');
  const bytes = (async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => pieces };
  })();
  return { head, bytes };
}
