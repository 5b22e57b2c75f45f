import { createWriteStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '@plinth/kernel';
import { CommandFailed, cannotWrite, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { printable } from '../output/terminal.js';
import { SHARED, writeWhole } from '../output/whole-file.js';
import { printPolicies } from '../tsdb/policies.js';

const FORMATS = ['pretty', 'json', 'json_rows', 'json_series', 'jsonl', 'csv', 'parquet'] as const;

const EXAMPLES = `
Examples:
  plinth query -d home 'SELECT room, avg(temp) FROM readings GROUP BY room'
  plinth query -d home --file report.sql --format csv --output report.csv
  echo 'SHOW TABLES' | plinth query -d home
  plinth query -d home --language influxql 'SELECT mean(temp) FROM readings GROUP BY room'
  plinth query -d home 'SELECT * FROM readings WHERE room = $room' --param room=Kitchen`;

interface QueryOptions {
  readonly format: (typeof FORMATS)[number];
  readonly language: 'sql' | 'influxql';
  readonly engine?: 'duckdb' | 'trino';
  readonly file?: string;
  readonly output?: string;
  readonly param: Readonly<Record<string, unknown>>;
}

export function queryCommand(): Command {
  const command = new Command('query')
    .description('query a database in SQL or InfluxQL')
    .argument('[query]', 'the query (default: --file or standard input)');
  return withConnection(command, { database: true })
    .addOption(new Option('-l, --language <name>').choices(['sql', 'influxql']).default('sql'))
    .addOption(new Option('-f, --format <format>').choices(FORMATS).default('pretty'))
    .addOption(
      new Option('--engine <name>', 'run SQL on this server or on Trino').choices([
        'duckdb',
        'trino',
      ]),
    )
    .option('--file <file>', 'read the query from a file')
    .option('-o, --output <file>', 'write the result to a file')
    .option('--param <name=value>', 'value of $name, as JSON or text; repeatable', parseParam, {})
    .addHelpText('after', EXAMPLES)
    .action(async (argument: string | undefined) => {
      await query(argument, command);
    });
}

async function query(argument: string | undefined, command: Command): Promise<void> {
  const options = command.opts<QueryOptions>();
  const connection = connectionOf(command.opts());
  if (options.format === 'parquet' && options.output === undefined && process.stdout.isTTY) {
    throw new CommandFailed('Parquet is binary; use --output <file>', EXIT.usage);
  }
  if (options.engine !== undefined && options.language !== 'sql') {
    throw new CommandFailed('--engine needs --language sql', EXIT.usage);
  }
  const q = await readQuery(argument, options.file);
  const db = options.language === 'sql' ? databaseOf(connection) : connection.database;
  const response = await callOk(connection, `api/v3/query_${options.language}`, {
    json: {
      ...(db !== undefined && { db }),
      q,
      format: options.format,
      ...(options.engine !== undefined && { engine: options.engine }),
      ...(Object.keys(options.param).length > 0 && { params: options.param }),
    },
  });
  await output(response, options);
  // InfluxDB 1.x lists the tables of all retention policies with their database.
  if (/^show\s+(?:measurements|tables)\b/i.test(q) && db !== undefined)
    await printPolicies(connection);
}

async function output(response: Response, { output: file, format }: QueryOptions): Promise<void> {
  const body =
    response.body === null ? Readable.from([]) : Readable.fromWeb(asNodeStream(response.body));
  if (file !== undefined) {
    await writeResponse(file, body);
    return;
  }
  try {
    const shown = process.stdout.isTTY ? printablePieces(body.setEncoding('utf8')) : body;
    await pipeline(shown, process.stdout, { end: false });
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'EPIPE') return; // The reader has closed the pipe, for example `| head`.
    throw error;
  }
  // JSON ends without a newline; add one for terminals and text files.
  if (format.startsWith('json_') || format === 'json') {
    process.stdout.write('\n');
  }
}

/** Replaces a file only when the result is complete. A pipe or device receives the data as it arrives. */
async function writeResponse(path: string, body: Readable): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  if (before === undefined || before.isFile()) {
    const mode = before === undefined ? SHARED : before.mode & 0o777;
    const target = before === undefined ? path : await realpath(path);
    await writeWhole(target, body, { mode });
    return;
  }
  const written = createWriteStream(path);
  await pipeline(body, written).catch((error: unknown) => {
    throw written.errored === null ? error : cannotWrite(path, error);
  });
}

async function* printablePieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield printable(text);
}

/** The two declarations of web streams (global, node:stream/web) describe the same object. */
function asNodeStream(body: ReadableStream<Uint8Array>): Parameters<typeof Readable.fromWeb>[0] {
  return body as unknown as Parameters<typeof Readable.fromWeb>[0];
}

async function readQuery(argument: string | undefined, file: string | undefined): Promise<string> {
  if (argument !== undefined && file !== undefined) {
    throw new CommandFailed('use either a query argument or --file', EXIT.usage);
  }
  if (argument === undefined && file === undefined && process.stdin.isTTY) {
    throw new CommandFailed("no query given; try: plinth query -d home 'SHOW TABLES'", EXIT.usage);
  }
  const q = argument ?? (file === undefined ? await readText(process.stdin) : await read(file));
  if (q.trim() !== '') return q.trim();
  throw new CommandFailed('the query is empty; enter a statement', EXIT.usage);
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandFailed(`cannot read ${file}: ${messageOf(error)}`);
  }
}

function parseParam(
  text: string,
  before: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('Use name=value.');
  const name = text.slice(0, equals).replace(/^\$/, '');
  return { ...before, [name]: parseValue(text.slice(equals + 1)) };
}

function parseValue(text: string): unknown {
  return /^(null|true|false|-?\d+(\.\d+)?([eE][+-]?\d+)?)$/.test(text)
    ? JSON.parse(text)
    : text.replace(/^"(.*)"$/s, '$1');
}
