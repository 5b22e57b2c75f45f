import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '@plinth/kernel';
import { type Chunk, escapedKey } from '@plinth/line-protocol';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { type DumpChunk, dumpChunks, isDump } from '../input/dump.js';
import { openInput, withHead } from '../input/input.js';
import { chunkLines } from '../input/line-chunks.js';
import { Faults } from './faults.js';
import { OldNames } from './old-names.js';
import type { Source } from './run-migration.js';

const CHUNK_BYTES = 4 << 20;
const MAX_LINE_BYTES = 10 << 20;
/** Upper bound for a line: a VictoriaMetrics export has all values of a series in one line. */
const MAX_TEXT_LINE_BYTES = 256 << 20;

/** A record of a file that becomes lines of line protocol with nanosecond timestamps. `lines` throws `BadLine`. */
export interface Unit {
  /** Line number in the file, from 1. */
  readonly number: number;
  lines(): Iterable<string>;
}

/** Receives a message about a changed name or value; messages may repeat. */
export type Note = (sentence: string) => void;

/** Reads a file in a format other than line protocol. */
export type Format = (bytes: AsyncIterable<Uint8Array>, note: Note) => AsyncIterable<Unit>;

/** Creates a format in which each line can be parsed independently. */
export const lineByLine = (convert: (line: string, note: Note) => Iterable<string>): Format =>
  async function* (bytes, note) {
    for await (const { text, number } of textLines(bytes)) {
      if (text.trim() !== '') yield { number, lines: () => convert(text, note) };
    }
  };

/** The problem with a line. */
export class BadLine extends Error {
  override readonly name = 'BadLine';
  readonly kind = 'bad_line';
}

/**
 * Opens files of line protocol in nanoseconds, or dumps of 1.x.
 * @param formatOf detects another format from the first bytes of a file.
 */
export async function fileSource(
  paths: readonly string[],
  formatOf: (head: string) => Format | undefined,
): Promise<Source> {
  const [first] = paths;
  if (first === undefined)
    throw new CommandFailed('no files given; specify at least one file', EXIT.usage);
  const faults = new Faults();
  const names = new OldNames();
  const notes = new Set<string>();
  const note: Note = (sentence) => notes.add(sentence);
  const identity: string[] = [];
  for (const path of paths) {
    const { size, mtimeMs } = await stat(path).catch((error: unknown) => {
      throw new CommandFailed(`cannot read ${path}: ${messageOf(error)}`);
    });
    identity.push(`${resolve(path)} ${size} ${mtimeMs}`);
  }
  return {
    identity: identity.join('\n'),
    progressPath: `${resolve(first)}.plinth-migration`,
    statements: [],
    pieces: paths.map((path) => ({
      name: path,
      chunks: (run) => whole(path, faults, chunksOf(path, formatOf, { faults, names, note, run })),
    })),
    faults,
    notes: () => [...names.notes, ...notes],
  };
}

/** Records a truncated or foreign file as a fault; its readable part is kept. */
async function* whole(
  path: string,
  faults: Faults,
  chunks: AsyncIterable<DumpChunk>,
): AsyncGenerator<DumpChunk> {
  try {
    yield* chunks;
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    const text = error.message.startsWith(path) ? error.message : `${path}: ${error.message}`;
    // An error after the first pass is not a fault of the file.
    if (faults.isComplete && !faults.ends.has(text)) throw error;
    faults.ends.add(text);
    faults.add(text);
  }
}

const open = (path: string) =>
  openInput(path, (name) => createReadStream(name, { highWaterMark: 1 << 20 }));

interface Context {
  readonly faults: Faults;
  readonly names: OldNames;
  readonly note: Note;
  readonly run: (statement: string) => Promise<void>;
}

async function* chunksOf(
  path: string,
  formatOf: (head: string) => Format | undefined,
  { faults, names, note, run }: Context,
): AsyncGenerator<DumpChunk> {
  const { head, bytes } = await withHead((await open(path)).bytes);
  const format = formatOf(head);
  if (format !== undefined) {
    yield* converted(path, format(bytes, note), faults);
    return;
  }
  const chunks = chunkLines(bytes, {
    chunkSizeBytes: CHUNK_BYTES,
    maxLineSizeBytes: MAX_LINE_BYTES,
  });
  if (isDump(head)) yield* dumpChunks(chunks, run, names);
  else for await (const chunk of chunks) yield { ...chunk, database: undefined };
}

async function* converted(
  path: string,
  units: AsyncIterable<Unit>,
  faults: Faults,
): AsyncGenerator<DumpChunk> {
  let lines: string[] = [];
  let numbers: number[] = [];
  let size = 0;
  const flush = (): DumpChunk => {
    const known = numbers;
    const chunk: Chunk = {
      bytes: Buffer.from(lines.join('')),
      pointCount: lines.length,
      fileLineOf: (line) => known[line - 1] ?? 0,
    };
    [lines, numbers, size] = [[], [], 0];
    return { ...chunk, database: undefined };
  };
  try {
    for await (const { number, lines: made } of units) {
      try {
        for (const line of made()) {
          lines.push(`${line}\n`);
          numbers.push(number);
          size += line.length;
          if (size >= CHUNK_BYTES) yield flush();
        }
      } catch (error) {
        if (!(error instanceof BadLine)) throw error;
        faults.add(`${path}:${number}: ${error.message}`);
      }
    }
  } catch (error) {
    // Data read before the failure is valid.
    if (lines.length > 0) yield flush();
    throw error;
  }
  if (lines.length > 0) yield flush();
}

/** The lines of a text, without line ends. */
async function* textLines(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly text: string; readonly number: number }> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 1;
  const take = (end: Uint8Array) => {
    const text = Buffer.concat([...parts, end])
      .toString('utf8')
      .replace(/\r$/, '');
    [parts, size] = [[], 0];
    return { text, number: number++ };
  };
  for await (const part of input) {
    let start = 0;
    for (let at = part.indexOf(0x0a); at >= 0; at = part.indexOf(0x0a, start)) {
      yield take(part.subarray(start, at));
      start = at + 1;
    }
    parts.push(part.subarray(start));
    size += part.length - start;
    if (size > MAX_TEXT_LINE_BYTES)
      throw new CommandFailed(`line ${number} is longer than ${MAX_TEXT_LINE_BYTES / 2 ** 20} MiB`);
  }
  if (size > 0) yield take(new Uint8Array(0));
}

/** Escapes a name or value for line protocol. */
export function escaped(text: string): string {
  if (/[\t\r\n]/.test(text))
    throw new BadLine(
      'a name or label contains a tab or a line break, which line protocol does not support',
    );
  return escapedKey(text);
}

/** Escapes a table name, in which `=` needs no escape. */
export function escapedTable(text: string): string {
  if (text === '') throw new BadLine('the measurement or metric has no name');
  return escaped(text).replaceAll('\\=', '=');
}
