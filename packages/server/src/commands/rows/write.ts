import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@plinth/kernel';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type Connection,
  call,
  callOk,
  connectionOf,
  databaseOf,
  failureOf,
  withConnection,
} from '../connection.js';
import { type CsvMapping, chunkCsv, type FieldType } from '../input/csv-lines.js';
import { dumpChunks, isDump } from '../input/dump.js';
import { openInput, textInput } from '../input/input.js';
import { type Chunk, chunkLines } from '../input/line-chunks.js';
import { isLineProtocol } from '../input/line-text.js';
import { TIME_FORMATS, type TimeFormat } from '../input/time-text.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { WriteReport } from './write-report.js';

const CHUNK_SIZE_BYTES = 4 * 1024 * 1024;
const MAX_LINE_SIZE_BYTES = 10 * 1024 * 1024;
const HEAD_BYTES = 4096;
const MAX_ATTEMPT_COUNT = 10;
const MAX_RETRY_WAIT_SEC = 30;
const FIELD_TYPES: readonly string[] = ['float', 'int', 'uint', 'string', 'bool'];

const EXAMPLES = `
Examples:
  plinth write -d home readings.lp more.lp.gz
  cat readings.lp | plinth write -d home --precision s
  plinth write -d weather --csv --table daily --tag weather --field temp_max:float --time date seattle.csv

Good lines of a file are written even if others are refused; refused ones are listed and the exit code is 1.
Dumps of InfluxDB 1.x (influx_inspect export) make their databases and go where they say, without --database.
Pieces of a file travel side by side: where one file holds the same point twice, use --concurrency 1.`;

export interface WriteOptions {
  readonly precision: string;
  readonly acceptPartial: boolean;
  readonly sync: boolean;
  readonly concurrency: number;
  readonly csv?: true;
  /** The input is Parquet: a file with a name. */
  readonly parquet?: true;
  /** Parquet: what line protocol cannot hold is left out. */
  readonly lossy?: true;
  readonly table?: string;
  readonly tag: readonly string[];
  readonly field: ReadonlyMap<string, FieldType>;
  /** CSV: types of columns that `field` does not name, where they are known. */
  readonly types?: ReadonlyMap<string, FieldType>;
  readonly time?: string;
  readonly timeFormat: TimeFormat;
}

/** `plinth write`. */
export function writeCommand(): Command {
  const command = new Command('write')
    .description('write line protocol or CSV from files (also gzip) or standard input')
    .argument('[file...]', 'files, or line protocol itself; none or - means standard input');
  return withConnection(command, { database: true })
    .addOption(
      new Option('-p, --precision <unit>', 'unit of timestamps in line protocol')
        .choices(['auto', 's', 'ms', 'us', 'ns'])
        .default('auto'),
    )
    .addOption(new Option('--file <file>', 'the same as an argument').hideHelp())
    .addOption(new Option('--accept-partial', 'which it does').default(true).hideHelp())
    .option('--no-accept-partial', 'refuse a piece as a whole when one of its lines is bad')
    .option('--no-sync', 'do not wait until the data are on disk')
    .option('--concurrency <n>', 'pieces on their way at once, 1 to 16', parseConcurrency, 4)
    .option('--csv', 'the input is CSV with a header line')
    .option('--table <name>', 'CSV: table to write to')
    .option('--tag <columns>', 'CSV: columns that are tags', splitNames, [])
    .option(
      '--field <column[:type],...>',
      `CSV: fields, types ${FIELD_TYPES.join(' ')} (default: all other columns)`,
      parseFields,
      new Map(),
    )
    .option('--time <column>', 'CSV: column with the time (default: time of arrival)')
    .addOption(new Option('--time-format <format>', 'CSV').choices(TIME_FORMATS).default('auto'))
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[]) => {
      const { file } = command.opts<{ file?: string }>();
      if (file !== undefined) files.unshift(file);
      await writeFiles(files, command.opts<WriteOptions>(), connectionOf(command.opts()));
    });
}

export async function writeFiles(
  files: readonly string[],
  options: WriteOptions,
  connection: Connection,
): Promise<void> {
  const mapping = options.csv ? mappingOf(options) : undefined;
  const report = new WriteReport();
  for (const file of files.length === 0 ? ['-'] : files) {
    const isLine = !mapping && !options.parquet && isLineProtocol(file);
    const input = isLine
      ? textInput(file)
      : await openInput(file, (path) => createReadStream(path, { highWaterMark: 1 << 20 }));
    report.beginFile(isLine ? 'argument' : file === '-' ? 'stdin' : file, input);
    const { head, bytes } = await withHead(input.bytes);
    const isOfDump = !mapping && !options.parquet && isDump(head);
    if (!isOfDump) databaseOf(connection);
    const precision = precisionOf(head, isOfDump, options.precision);
    const lines = async () =>
      chunkLines(options.parquet ? await parquetOf(file, options) : bytes, {
        chunkSizeBytes: CHUNK_SIZE_BYTES,
        maxLineSizeBytes: MAX_LINE_SIZE_BYTES,
      });
    const chunks = mapping
      ? chunkCsv(bytes, mapping, CHUNK_SIZE_BYTES, (row) => report.refuse(row.line, row.message))
      : isOfDump
        ? dumpChunks(await lines(), (statement) => runStatement(statement, connection))
        : await lines();
    await sendAll(chunks, options.concurrency, (chunk) =>
      send(chunk, { ...options, precision }, connection, report),
    );
  }
  if (!report.finish()) process.exitCode = EXIT.failed;
}

/** A file may say the unit of its timestamps in its first line, as those of `plinth export` do; dumps are in nanoseconds. */
function precisionOf(head: string, isOfDump: boolean, asked: string): string {
  if (asked !== 'auto') return asked;
  return /^# precision: (s|ms|us|ns)\r?\n/.exec(head)?.[1] ?? (isOfDump ? 'ns' : asked);
}

/** The beginning of an input, and all of it. */
async function withHead(
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

/** A statement of a dump. */
async function runStatement(statement: string, connection: Connection): Promise<void> {
  const response = await callOk(connection, 'query', { method: 'POST', query: { q: statement } });
  const { results } = (await response.json()) as { results?: readonly { error?: string }[] };
  const error = results?.find((result) => result.error !== undefined)?.error;
  if (error !== undefined) throw new CommandFailed(`${statement}: ${error}`);
}

/** The engine that reads Parquet is loaded only when it is needed. */
async function parquetOf(path: string, options: WriteOptions): Promise<AsyncIterable<Uint8Array>> {
  const { readParquet } = await import('@plinth/tsdb');
  const { table = '', tag, time = 'time' } = options;
  const lines = readParquet({ path, table, tags: tag, time, isLossy: options.lossy ?? false });
  return (async function* () {
    try {
      yield* lines;
    } catch (error) {
      throw new CommandFailed(`cannot read ${path}: ${messageOf(error)}`);
    }
  })();
}

/** Keeps `concurrency` chunks on their way; the first failure stops reading and is thrown. */
async function sendAll<C extends Chunk>(
  chunks: AsyncIterable<C>,
  concurrency: number,
  sendOne: (chunk: C) => Promise<void>,
): Promise<void> {
  const underway = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const chunk of chunks) {
    const sent = sendOne(chunk)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => underway.delete(sent));
    underway.add(sent);
    if (underway.size >= concurrency) await Promise.race(underway);
    if (failures.length > 0) break;
  }
  await Promise.all(underway);
  if (failures.length > 0) throw failures[0];
}

async function send(
  chunk: Chunk & { readonly database?: string | undefined },
  options: WriteOptions,
  connection: Connection,
  report: WriteReport,
): Promise<void> {
  const query = {
    db: chunk.database ?? databaseOf(connection),
    precision: options.csv || options.parquet ? 'ns' : options.precision,
    accept_partial: String(options.acceptPartial),
    no_sync: String(!options.sync),
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await call(connection, 'api/v3/write_lp', { query, body: chunk.bytes });
    const text = await response.text();
    // Both say that nothing of the request was taken, so sending it again is safe.
    const isBusy = response.status === 429 || response.status === 503;
    if (isBusy && attempt < MAX_ATTEMPT_COUNT) {
      await sleep(1000 * retryAfterSec(response.headers.get('retry-after'), attempt));
      continue;
    }
    if (response.ok) {
      report.accept(chunk, []);
      return;
    }
    const refused = refusedLines(text);
    if (refused === undefined) throw failureOf(response.status, errorOf(text), connection);
    const isPartial = options.acceptPartial;
    report.accept(chunk, refused, isPartial ? chunk.pointCount - refused.length : 0);
    return;
  }
}

function errorOf(text: string): string {
  const error: unknown = Reflect.get(Object(parseJson(text)), 'error');
  return typeof error === 'string' ? error : text.trim() || 'no further words';
}

/** The list of bad lines in the answer; undefined when the answer is about something else. */
function refusedLines(
  text: string,
): readonly { readonly line: number; readonly message: string }[] | undefined {
  const data: unknown = Reflect.get(Object(parseJson(text)), 'data');
  if (!Array.isArray(data) || data.length === 0) return undefined;
  return data.map((item: unknown) => ({
    line: Number(Reflect.get(Object(item), 'line_number')),
    message: String(Reflect.get(Object(item), 'error_message')),
  }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not ours: a proxy or another server answered.
  }
}

function retryAfterSec(header: string | null, attempt: number): number {
  const asked = header === null ? Number.NaN : Number(header);
  const wait = Number.isFinite(asked) && asked >= 0 ? asked : 2 ** (attempt - 1) / 4;
  return Math.min(wait, MAX_RETRY_WAIT_SEC);
}

function mappingOf(options: WriteOptions): CsvMapping {
  if (options.table === undefined) {
    throw new CommandFailed('--csv needs --table <name>', EXIT.usage);
  }
  const { table, tag, field, types, time, timeFormat } = options;
  return { table, tags: tag, fields: field, ...(types && { types }), time, timeFormat };
}

function parseConcurrency(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 16) return value;
  throw new InvalidArgumentError('a whole number from 1 to 16');
}

function splitNames(text: string, before: readonly string[]): readonly string[] {
  return [...before, ...text.split(',').filter((name) => name !== '')];
}

function parseFields(
  text: string,
  before: ReadonlyMap<string, FieldType>,
): ReadonlyMap<string, FieldType> {
  const fields = new Map(before);
  for (const item of splitNames(text, [])) {
    const colon = item.lastIndexOf(':');
    const type = colon < 0 ? 'float' : item.slice(colon + 1);
    if (!isFieldType(type)) throw new InvalidArgumentError(`types are ${FIELD_TYPES.join(', ')}`);
    fields.set(colon < 0 ? item : item.slice(0, colon), type);
  }
  return fields;
}

const isFieldType = (text: string): text is FieldType => FIELD_TYPES.includes(text);
