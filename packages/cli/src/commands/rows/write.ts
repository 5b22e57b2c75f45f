import { createReadStream } from 'node:fs';
import { messageOf } from '@plinth/kernel';
import {
  type CsvMapping,
  chunkCsv,
  type FieldType,
  TIME_FORMATS,
  type TimeFormat,
} from '@plinth/line-protocol';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Connection, connectionOf, databaseOf, withConnection } from '../connection.js';
import { readingCsv } from '../input/csv-input.js';
import { dumpChunks, isDump } from '../input/dump.js';
import { openInput, textInput, withHead } from '../input/input.js';
import { chunkLines } from '../input/line-chunks.js';
import { isLineProtocol } from '../input/line-text.js';
import { runDumpStatement, send, sendAll } from './send-chunks.js';
import { WriteReport } from './write-report.js';

const CHUNK_SIZE_BYTES = 4 * 1024 * 1024;
const MAX_LINE_SIZE_BYTES = 10 * 1024 * 1024;
const FIELD_TYPES: readonly string[] = ['float', 'int', 'uint', 'string', 'bool'];

const EXAMPLES = `
Examples:
  plinth write -d home readings.lp more.lp.gz
  cat readings.lp | plinth write -d home --precision s
  plinth write -d weather --csv --table daily --tag weather --field temp_max:float --time date seattle.csv

Valid lines are written even if others are rejected. Rejected lines are listed, and the exit code is 1.
InfluxDB 1.x dumps (influx_inspect export) name their databases, so omit --database. Missing ones are created.
Chunks of a file are sent concurrently. If a file contains the same point twice, use --concurrency 1.`;

export interface WriteOptions {
  readonly precision: string;
  readonly acceptPartial: boolean;
  readonly sync: boolean;
  readonly concurrency: number;
  readonly csv?: true;
  /** Whether the input is a Parquet file. */
  readonly parquet?: true;
  /** Parquet: skip values that line protocol does not support. */
  readonly lossy?: true;
  readonly table?: string;
  readonly tag: readonly string[];
  readonly field: ReadonlyMap<string, FieldType>;
  /** CSV: known types of columns that `field` does not list. */
  readonly types?: ReadonlyMap<string, FieldType>;
  readonly time?: string;
  readonly timeFormat: TimeFormat;
}

export function writeCommand(): Command {
  const command = new Command('write')
    .description('write line protocol or CSV from files (plain or gzip) or standard input')
    .argument('[file...]', 'files or line protocol (default or -: standard input)');
  return withConnection(command, { database: true })
    .addOption(
      new Option('-p, --precision <unit>', 'unit of timestamps in line protocol')
        .choices(['auto', 's', 'ms', 'us', 'ns'])
        .default('auto'),
    )
    .addOption(new Option('--file <file>', 'same as the file argument').hideHelp())
    .addOption(
      new Option('--accept-partial', 'write the valid lines of a chunk (default)')
        .default(true)
        .hideHelp(),
    )
    .option('--no-accept-partial', 'reject a chunk entirely if one of its lines is invalid')
    .option('--no-sync', 'do not wait until the data is on disk')
    .option('--concurrency <n>', 'concurrent requests, 1 to 16', parseConcurrency, 4)
    .option('--csv', 'the input is CSV with a header line')
    .option('--table <name>', 'CSV: table to write to')
    .option(
      '--tag <columns>',
      'CSV: tag columns; escape a comma in a name as `\\,`',
      splitNames,
      [],
    )
    .option(
      '--field <column[:type],...>',
      'CSV: fields as float, int, uint, string or bool (default: all other columns)',
      parseFields,
      new Map(),
    )
    .option('--time <column>', 'CSV: time column (default: the time of the write)')
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
      ? readingCsv(
          chunkCsv(bytes, mapping, CHUNK_SIZE_BYTES, (row) => report.refuse(row.line, row.message)),
        )
      : isOfDump
        ? dumpChunks(await lines(), (statement) => runDumpStatement(statement, connection))
        : await lines();
    await sendAll(chunks, options.concurrency, (chunk) =>
      send(
        chunk,
        { ...options, precision: options.csv || options.parquet ? 'ns' : precision },
        connection,
        report,
      ),
    );
  }
  if (!report.finish()) process.exitCode = EXIT.failed;
}

/** A file can set its timestamp unit in the first line, as `plinth export` does. Dumps use nanoseconds. */
function precisionOf(head: string, isOfDump: boolean, precision: string): string {
  if (precision !== 'auto') return precision;
  return /^# precision: (s|ms|us|ns)\r?\n/.exec(head)?.[1] ?? (isOfDump ? 'ns' : precision);
}

/** DuckDB, which reads Parquet, is loaded only when needed. */
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

function mappingOf(options: WriteOptions): CsvMapping {
  if (options.table === undefined) {
    throw new CommandFailed('--csv requires --table <name>', EXIT.usage);
  }
  const { table, tag, field, types, time, timeFormat } = options;
  return { table, tags: tag, fields: field, ...(types && { types }), time, timeFormat };
}

export function parseConcurrency(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 16) return value;
  throw new InvalidArgumentError('Use an integer from 1 to 16.');
}

/** Splits a comma-separated list; a backslash escapes a comma or a backslash. */
export function splitNames(text: string, before: readonly string[]): readonly string[] {
  const names = text.match(/(?:\\[\\,]|[^,])+/g) ?? [];
  return [...before, ...names.map((name) => name.replaceAll(/\\([\\,])/g, '$1'))];
}

function parseFields(
  text: string,
  before: ReadonlyMap<string, FieldType>,
): ReadonlyMap<string, FieldType> {
  const fields = new Map(before);
  for (const item of splitNames(text, [])) {
    const colon = item.lastIndexOf(':');
    const type = colon < 0 ? 'float' : item.slice(colon + 1);
    if (!isFieldType(type))
      throw new InvalidArgumentError(`Use one of the types ${FIELD_TYPES.join(', ')}.`);
    fields.set(colon < 0 ? item : item.slice(0, colon), type);
  }
  return fields;
}

const isFieldType = (text: string): text is FieldType => FIELD_TYPES.includes(text);
