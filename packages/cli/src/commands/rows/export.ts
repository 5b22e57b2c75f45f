import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { escapedKey, escapedTable, quotedText } from '@plinth/line-protocol';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, Option } from 'commander';
import {
  bytesOf,
  type Connection,
  callOk,
  connectionOf,
  databaseOf,
  withConnection,
} from '../connection.js';
import { Progress } from '../output/progress.js';
import { print } from '../output/terminal.js';
import { PRIVATE, SHARED, writeWhole } from '../output/whole-file.js';

const FORMATS = ['parquet', 'csv', 'lp'] as const;
/** Lines of line protocol per write. */
const LINES_PER_PIECE = 1000;

interface ExportOptions {
  readonly table?: string;
  readonly query?: string;
  readonly format: (typeof FORMATS)[number];
  readonly output: string;
  readonly lossy?: true;
  readonly shared?: true;
}

/** Number of values that a format does not support, and of rows that contain them. */
interface Loss {
  rowCount: number;
  valueCount: number;
}

export function exportCommand(): Command {
  const command = withConnection(new Command('export'), { database: true })
    .description('write a table or a query result to a file')
    .option('--table <name>', 'table to export')
    .option('--query <sql>', 'export a query result instead of a table (not for line protocol)')
    .addOption(new Option('-f, --format <format>').choices(FORMATS).default('parquet'))
    .requiredOption('-o, --output <file>', 'output file')
    .option('--lossy', 'line protocol: skip unsupported data (NaN, rows without a field)')
    .option('--shared', 'let other users read the file, subject to the umask')
    .addHelpText(
      'after',
      '\nExamples:\n  plinth export -d home --table readings -o readings.parquet\n  plinth export -d home --table readings --format lp -o readings.lp\n\nLine protocol contains everything except NaN; load it with `plinth write`. In CSV an empty string is "" and NULL is empty.\nCSV cells are verbatim, including those that start with = + - @. Import untrusted data as text, so that a spreadsheet does not run\nit as formulas.',
    );
  return command.action(async () => {
    const options = command.opts<ExportOptions>();
    const connection = connectionOf(command.opts());
    const loss = { rowCount: 0, valueCount: 0 };
    const pieces =
      options.format === 'lp'
        ? exportLines(connection, options, loss)
        : exportResponse(connection, options);
    const check = (): void => {
      const { rowCount, valueCount } = loss;
      if (options.lossy || rowCount + valueCount === 0) return;
      throw new CommandFailed(
        `line protocol does not support NaN values (${valueCount}) or rows without a field (${rowCount}); nothing was written\n` +
          '  Export as Parquet, or use --lossy to skip them.',
      );
    };
    const { output } = options;
    if (await exists(output))
      throw new CommandFailed(
        `cannot write ${output}: the file already exists; remove it or use another name`,
      );
    const progress = new Progress('export', 0);
    let sizeBytes = 0;
    await writeWhole(output, pieces, {
      check,
      mode: options.shared ? SHARED : PRIVATE,
      onPiece(bytes) {
        sizeBytes += bytes;
        progress.add(bytes);
      },
    });
    progress.end();
    print(`${output}: ${sizeBytes} bytes\n`);
  });
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function* exportResponse(
  connection: Connection,
  { table, query, format }: ExportOptions,
): AsyncGenerator<Uint8Array> {
  if ((table === undefined) === (query === undefined)) {
    throw new CommandFailed('use either --table or --query', EXIT.usage);
  }
  const q = query ?? `SELECT * FROM ${quoted(table ?? '')}`;
  yield* await responseOf(connection, q, format === 'csv' ? 'csv_exact' : format);
}

async function responseOf(
  connection: Connection,
  q: string,
  format: string,
): Promise<AsyncIterable<Uint8Array>> {
  const json = { db: databaseOf(connection), q, format };
  return bytesOf(await callOk(connection, 'api/v3/query_sql', { json }));
}

interface ExportedColumn {
  readonly key: string;
  readonly data_type: string;
}

/** Values are strings, so that 64-bit integers and nanoseconds keep all digits. */
async function* exportLines(
  connection: Connection,
  { table }: ExportOptions,
  loss: Loss,
): AsyncGenerator<Uint8Array> {
  if (table === undefined) throw new CommandFailed('--format lp requires --table', EXIT.usage);
  const q = `SELECT key, data_type FROM system.influxdb_schema WHERE measurement = '${table.replaceAll("'", "''")}'`;
  const columns = await readRows<ExportedColumn>(await responseOf(connection, q, 'jsonl'));
  if (columns.length === 0) throw new CommandFailed(`table not found: ${table}`);
  const list = columns.map(({ key, data_type }, i) => `${exact(quoted(key), data_type)} AS c${i}`);
  // Without this line, small timestamps would be read as seconds.
  yield Buffer.from('# precision: ns\n');
  const rows = `SELECT ${list.join(', ')} FROM ${quoted(table)}`;
  const lines = createInterface({
    input: Readable.from(await responseOf(connection, rows, 'jsonl')),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let piece: string[] = [];
  for await (const line of lines) {
    if (line === '') continue;
    const text = toLine(table, columns, JSON.parse(line) as Record<string, unknown>, loss);
    if (text !== undefined) piece.push(text);
    if (piece.length < LINES_PER_PIECE) continue;
    yield Buffer.from(piece.join(''));
    piece = [];
  }
  if (piece.length > 0) yield Buffer.from(piece.join(''));
}

async function readRows<T>(body: AsyncIterable<Uint8Array>): Promise<T[]> {
  let text = '';
  for await (const piece of body) text += Buffer.from(piece).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/**
 * Returns an expression that JSON represents exactly. JSON is exact for strings and booleans, but not for 64-bit
 * integers or infinities.
 */
function exact(column: string, type: string): string {
  switch (type) {
    case 'time':
      return `CAST(CAST(${column} AS BIGINT) AS VARCHAR)`;
    case 'integer':
    case 'uinteger':
    case 'float':
      return `CAST(${column} AS VARCHAR)`;
    default:
      return column;
  }
}

/** Returns `undefined` for a row without a field that line protocol supports. */
function toLine(
  table: string,
  columns: readonly ExportedColumn[],
  row: Readonly<Record<string, unknown>>,
  loss: Loss,
): string | undefined {
  let tags = '';
  const fields: string[] = [];
  let time = '';
  columns.forEach(({ key, data_type }, i) => {
    const value = row[`c${i}`];
    if (value === undefined || value === null) return;
    if (data_type === 'time') time = String(value);
    else if (data_type === 'tag') tags += `,${escapedKey(key)}=${escapedKey(String(value))}`;
    else if (/^[+-]?nan$/i.test(String(value)) && data_type === 'float') loss.valueCount += 1;
    else fields.push(`${escapedKey(key)}=${fieldText(value, data_type)}`);
  });
  if (fields.length === 0) {
    loss.rowCount += 1;
    return undefined;
  }
  return `${escapedTable(table)}${tags} ${fields.join(',')} ${time}\n`;
}

function fieldText(value: unknown, type: string): string {
  switch (type) {
    case 'integer':
      return `${String(value)}i`;
    case 'uinteger':
      return `${String(value)}u`;
    case 'string':
      return quotedText(String(value));
    case 'float':
      // Infinity is written as a number that overflows.
      return String(value).replace(/inf(?:inity)?$/i, '1e999');
    default:
      return String(value);
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
