import { once } from 'node:events';
import type { ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '@plinth/kernel';
import { CommandFailed } from '../output/exit.js';

const HEAD_BYTES = 4096;
/** Compressed bytes that are decompressed at once: each may become a thousand. */
const STEP_BYTES = 64 << 10;

export interface Input {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Size of the file as it lies on disk; undefined for standard input. */
  readonly sizeBytes: number | undefined;
  /** Bytes taken from disk so far. */
  readonly readBytes: () => number;
}

/** Opens a file or standard input (`-`); gzip is known by its first bytes, whatever the name says. */
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

/** What was given as text in place of a file. */
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

/** All that can be decompressed is handed out, before what is cut off or damaged becomes a failure. */
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
  // Also when zeros stand behind the end, as tapes have them.
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
      throw new CommandFailed(`${name}: ${failure.message}; the file is cut off or damaged`);
  };
  try {
    for await (const part of parts) {
      for (let at = 0; at < part.length; at += STEP_BYTES)
        yield* step((done) => gunzip.write(part.subarray(at, at + STEP_BYTES), done));
    }
    // A step of its own: the last bytes would keep back what they hold, when the end comes too early.
    yield* step(() => gunzip.end());
  } finally {
    gunzip.destroy();
  }
}

/** The beginning of an input, and all of it. */
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
