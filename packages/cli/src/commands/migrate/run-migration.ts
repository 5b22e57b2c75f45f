import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Chunk } from '@plinth/line-protocol';
import { CommandFailed, cannotWrite } from '@plinth/server/process/command-failed.js';
import { type ReadLine, readLine } from '@plinth/tsdb';
import { type Connection, call, databaseOf } from '../connection.js';
import type { DumpChunk } from '../input/dump.js';
import { linesIn } from '../input/line-chunks.js';
import { quoted } from '../input/line-text.js';
import { formatTable } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { runDumpStatement, runStatement, send, sendAll } from '../rows/send-chunks.js';
import { WriteReport } from '../rows/write-report.js';
import type { Faults } from './faults.js';
import { TableFacts } from './table-facts.js';

/** A part of a migration, with nanosecond timestamps. Its points may come in any order. */
export interface Piece {
  readonly name: string;
  /** Called twice; both calls must return the same chunks. @param run runs a statement of the part. */
  chunks(run: (statement: string) => Promise<void>): AsyncIterable<DumpChunk>;
}

/** The source of a migration. */
export interface Source {
  /** Source files with fingerprints that show whether they have changed. */
  readonly identity: string;
  /** Path of the file that stores the progress of an interrupted migration. */
  readonly progressPath: string;
  /** Statements to run before the first point. */
  readonly statements: readonly string[];
  readonly pieces: readonly Piece[];
  /** Returns a message for each renamed item; the list is complete after all parts were read. */
  readonly notes: () => readonly string[];
  /** Unreadable parts so far. */
  readonly faults: Faults;
}

export interface RunOptions {
  readonly concurrency: number;
  /** Skip unreadable lines instead of refusing the migration. */
  readonly keep?: true;
  /** Send nothing. */
  readonly dryRun?: true;
}

const MAX_COUNTED_TABLES = 1000;
/** The last point that an earlier run wrote to each of the first tables. */
type WrittenPoints = Map<string, { database: string } & Pick<ReadLine, 'series' | 'timestamp'>>;
const SAVE_INTERVAL_MS = 1000;
const BLANK = 0x20;
const HASH = 0x23;

/**
 * Reads everything first, to find corrupt data before the first write. Then writes it, starting where an earlier run
 * stopped. Points have timestamps, so repeated writes are idempotent.
 * @returns whether all points were accepted.
 */
export async function runMigration(
  source: Source,
  connection: Connection,
  options: RunOptions,
): Promise<boolean> {
  const marks = await Marks.open(source, connection);
  const { facts, chunkCount, sizeBytes, written } = await lookThrough(
    source,
    connection,
    options,
    marks.done,
  );
  for (const sentence of [...source.notes(), ...facts.renameColumns()]) printNote(`${sentence}\n`);
  if (options.dryRun) {
    printCounts(facts, new Map());
    return source.faults.count === 0;
  }
  for (const statement of source.statements) await runStatement(statement, connection);
  const lost = await findLost(written, facts, connection);
  if (lost !== undefined) {
    printNote(`${lost} no longer contains the points of the earlier run; starting again\n`);
    marks.done = 0;
  }
  if (marks.done > 0)
    printNote(
      `an earlier run wrote ${marks.done} of ${chunkCount} chunks; continuing after them\n`,
    );
  const report = new WriteReport();
  let [next, readBytes] = [0, 0];
  try {
    for (const piece of source.pieces) {
      report.beginFile(piece.name, { sizeBytes, readBytes: () => readBytes });
      const numbered = async function* () {
        for await (const chunk of piece.chunks((statement) =>
          runDumpStatement(statement, connection),
        )) {
          const number = next++;
          readBytes += chunk.bytes.length;
          if (number >= marks.done) yield { ...prepared(chunk, facts, connection), number };
        }
      };
      await sendAll(numbered(), options.concurrency, async (chunk) => {
        await send(chunk, { precision: 'ns', acceptPartial: true, sync: true }, connection, report);
        await marks.add(chunk.number);
      });
    }
  } catch (error) {
    await marks.save();
    throw error;
  }
  await marks.remove();
  const isWhole = report.finish();
  printCounts(facts, await rowCounts(facts, connection));
  return isWhole && source.faults.count === 0;
}

async function lookThrough(
  { pieces, faults }: Source,
  connection: Connection,
  { keep }: RunOptions,
  writtenCount: number,
) {
  const facts = new TableFacts();
  const written: WrittenPoints = new Map();
  let [chunkCount, sizeBytes] = [0, 0];
  for (const piece of pieces) {
    const countBefore = chunkCount + faults.count;
    for await (const chunk of piece.chunks(async () => {})) {
      const isWritten = chunkCount++ < writtenCount;
      sizeBytes += chunk.bytes.length;
      const database = databaseFor(chunk, connection);
      for (const { line, number } of readLines(chunk)) {
        if (typeof line === 'string')
          faults.add(`${piece.name}:${chunk.fileLineOf(number)}: ${line}`);
        else {
          facts.add(database, line);
          if (!isWritten) continue;
          const { series, timestamp } = line;
          const key = JSON.stringify([database, series.table]);
          if (written.has(key) || written.size < MAX_COUNTED_TABLES)
            written.set(key, { database, series, timestamp });
        }
      }
    }
    if (chunkCount + faults.count === countBefore) printNote(`${piece.name}: no points found\n`);
  }
  faults.isComplete = true;
  for (const text of faults.texts) printNote(`${text}\n`);
  if (faults.count > 0 && !keep) {
    throw new CommandFailed(
      `unreadable parts of the input: ${faults.count}; nothing was written\n  Fix them, or use --keep to write the rest.`,
    );
  }
  return { facts, chunkCount, sizeBytes, written };
}

/** Yields the lines of a chunk that contain a point. */
function* readLines({ bytes }: Chunk) {
  for (const { start, end, number } of linesIn(bytes)) {
    let first = start;
    while (first < end && (bytes[first] ?? 0) <= BLANK) first += 1;
    if (first === end || bytes[first] === HASH) continue;
    let last = end;
    while (last > first && (bytes[last - 1] === 0x0a || bytes[last - 1] === 0x0d)) last -= 1;
    yield { line: readLine(bytes, first, last), number, start, end };
  }
}

/** Returns the chunk with its lines adapted to this server's tables. */
function prepared<C extends DumpChunk>(chunk: C, facts: TableFacts, connection: Connection): C {
  const database = databaseFor(chunk, connection);
  if (!facts.changes(database)) return { ...chunk, database };
  const parts: Uint8Array[] = [];
  const lineNumbers: number[] = [];
  for (const { line, number, start, end } of readLines(chunk)) {
    const text = typeof line === 'string' ? undefined : facts.rewritten(database, line);
    const part = text === undefined ? chunk.bytes.subarray(start, end) : Buffer.from(text);
    parts.push(part);
    // A string that contains line ends makes one line of the file several lines of the body.
    for (const byte of part) if (byte === 0x0a) lineNumbers.push(number);
  }
  const fileLineOf = (line: number) => chunk.fileLineOf(lineNumbers[line - 1] ?? line);
  return { ...chunk, bytes: Buffer.concat(parts), database, fileLineOf };
}

const databaseFor = ({ database }: DumpChunk, connection: Connection): string =>
  database ?? databaseOf(connection);

/** Number of chunks written so far, stored in a file while a migration runs. */
class Marks {
  readonly #path: string;
  readonly #key: string;
  readonly #ahead = new Set<number>();
  #savedMs = Number.NEGATIVE_INFINITY;
  done = 0;

  private constructor(path: string, key: string) {
    this.#path = path;
    this.#key = key;
  }

  static async open(
    { identity, progressPath }: Source,
    { host, database }: Connection,
  ): Promise<Marks> {
    const key = createHash('sha256')
      .update(JSON.stringify([1, identity, host, database]))
      .digest('hex');
    const marks = new Marks(progressPath, key);
    const before: unknown = await readFile(progressPath, 'utf8').then(JSON.parse, () => undefined);
    const { source, written } = Object(before) as { source?: unknown; written?: unknown };
    // Progress of other files, or of another server, does not apply.
    if (source === key && Number.isSafeInteger(written)) marks.done = Number(written);
    return marks;
  }

  async add(number: number): Promise<void> {
    this.#ahead.add(number);
    while (this.#ahead.delete(this.done)) this.done += 1;
    if (performance.now() - this.#savedMs < SAVE_INTERVAL_MS) return;
    this.#savedMs = performance.now();
    await this.save();
  }

  async save(): Promise<void> {
    const text = JSON.stringify({ version: 1, source: this.#key, written: this.done });
    try {
      await writeFile(`${this.#path}.new`, text, { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    } catch (error) {
      throw cannotWrite(this.#path, error);
    }
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

/**
 * Returns a table that lacks the last point of an earlier run. Its database was deleted, or the server is another one
 * or was restored.
 */
async function findLost(
  points: WrittenPoints,
  facts: TableFacts,
  connection: Connection,
): Promise<string | undefined> {
  for (const { database, series, timestamp } of points.values()) {
    const { table, tagKeys, tagValues } = series;
    // The server assigned a timestamp to a point without one.
    if (timestamp === undefined) continue;
    const conditions = tagKeys.map((tag, i) => {
      const value = (tagValues[i] ?? '').replace(/['\\]/g, '\\$&');
      return ` AND ${quoted(facts.tagName(database, table, tag))}::tag = '${value}'`;
    });
    const q = `SELECT * FROM ${quoted(table)} WHERE time = ${timestamp}${conditions.join('')} LIMIT 1`;
    const response = await call(connection, 'api/v3/query_influxql', {
      json: { db: database, q, format: 'json_rows' },
    });
    const rows: unknown = response.ok ? await response.json() : undefined;
    if (!response.ok) await response.body?.cancel();
    if (!Array.isArray(rows) || rows.length === 0) return `table ${table} of ${database}`;
  }
  return undefined;
}

/** Returns the current row counts of the first tables. */
async function rowCounts(facts: TableFacts, connection: Connection): Promise<Map<string, string>> {
  const counts = new Map<string, string>();
  for (const { database, table } of facts.counts()) {
    if (counts.size === MAX_COUNTED_TABLES) break;
    const q = `SELECT count(*) AS n FROM "${table.replaceAll('"', '""')}"`;
    const response = await call(connection, 'api/v3/query_sql', {
      json: { db: database, q, format: 'json_rows' },
    });
    const rows: unknown = response.ok ? await response.json() : undefined;
    if (!response.ok) await response.body?.cancel();
    const n: unknown = Array.isArray(rows) ? Reflect.get(Object(rows[0]), 'n') : undefined;
    counts.set(JSON.stringify([database, table]), n === undefined ? '?' : String(n));
  }
  return counts;
}

function printCounts(facts: TableFacts, rows: ReadonlyMap<string, string>): void {
  let total = 0;
  const lines = [...facts.counts()].map(({ database, table, lineCount }) => {
    total += lineCount;
    const now = rows.get(JSON.stringify([database, table]));
    return [database, table, String(lineCount), ...(now === undefined ? [] : [now])];
  });
  print(
    formatTable([
      ['database', 'table', 'points read', ...(rows.size > 0 ? ['current rows'] : [])],
      ...lines,
    ]),
  );
  const [points, tables] = [
    total === 1 ? 'point' : 'points',
    lines.length === 1 ? 'table' : 'tables',
  ];
  print(`total: ${total} ${points} in ${lines.length} ${tables}\n`);
}
