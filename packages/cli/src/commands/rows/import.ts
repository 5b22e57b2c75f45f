import { createReadStream } from 'node:fs';
import { type FieldType, findNumberColumns } from '@plinth/line-protocol';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import {
  type Connection,
  call,
  connectionOf,
  databaseOf,
  requireOk,
  withConnection,
} from '../connection.js';
import { csvFailure } from '../input/csv-input.js';
import { openInput } from '../input/input.js';
import { splitNames, writeFiles } from './write.js';

interface ImportOptions {
  readonly table: string;
  readonly tag: readonly string[];
  readonly time: string;
  readonly lossy?: true;
}

export function importCommand(): Command {
  const command = withConnection(new Command('import'), { database: true })
    .description('import Parquet (.parquet) or CSV (.csv, .csv.gz) files into a table')
    .argument('<file...>', 'files to import')
    .requiredOption('--table <name>', 'target table')
    .option(
      '--tag <columns>',
      'tag columns (default: from InfluxDB 3 file metadata); escape commas as `\\,`',
      splitNames,
      [],
    )
    .option('--time <column>', 'time column', 'time')
    .option('--lossy', 'Parquet: skip values that line protocol does not support')
    .addHelpText(
      'after',
      '\nExample:\n  plinth import -d home --table readings --tag room readings.parquet\n\nNew CSV columns become integers if all their values are integers, otherwise floats.\n\n`plinth write` reads line protocol, and has more CSV options.',
    );
  return command.action(async (files: string[]) => {
    const { table, tag, time, lossy } = command.opts<ImportOptions>();
    const connection = connectionOf(command.opts());
    for (const file of files) {
      const format = formatOf(file);
      const types = 'csv' in format ? { types: await typesOf(file, table, connection) } : {};
      await writeFiles(
        [file],
        { ...format, ...types, ...(lossy && { lossy }), table, tag, time, ...HOW },
        connection,
      );
    }
  });
}

/** The defaults of `plinth write`. */
const HOW = {
  precision: 'ns',
  acceptPartial: true,
  sync: true,
  concurrency: 4,
  field: new Map(),
  timeFormat: 'auto',
} as const;

const TYPES: ReadonlyMap<string, FieldType> = new Map([
  ['integer', 'int'],
  ['uinteger', 'uint'],
  ['float', 'float'],
  ['boolean', 'bool'],
  ['string', 'string'],
]);

/** Returns the column types of the table; for new columns, the common type of all values in the file. */
async function typesOf(
  file: string,
  table: string,
  connection: Connection,
): Promise<ReadonlyMap<string, FieldType>> {
  const { bytes } = await openInput(file, (path) =>
    createReadStream(path, { highWaterMark: 1 << 20 }),
  );
  const numbers = await findNumberColumns(bytes).catch((error: unknown) => {
    throw csvFailure(error);
  });
  const types = new Map<string, FieldType>(numbers);
  const q = `SELECT key, data_type FROM system.influxdb_schema WHERE measurement = '${table.replaceAll("'", "''")}'`;
  const json = { db: databaseOf(connection), q, format: 'json_rows' };
  const response = await call(connection, 'api/v3/query_sql', { json });
  // The import creates a missing database.
  if (response.status === 404) return types;
  await requireOk(response, connection);
  for (const { key, data_type } of (await response.json()) as {
    key: string;
    data_type: string;
  }[]) {
    const type = TYPES.get(data_type);
    if (type !== undefined) types.set(key, type);
  }
  return types;
}

function formatOf(file: string): { readonly csv: true } | { readonly parquet: true } {
  if (/\.csv(?:\.gz)?$/i.test(file)) return { csv: true };
  if (/\.parquet$/i.test(file)) return { parquet: true };
  throw new CommandFailed(
    `${file}: unsupported file type; use .parquet, .csv or .csv.gz`,
    EXIT.usage,
  );
}
