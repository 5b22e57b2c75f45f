import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { secondsOf } from '../input/duration.js';
import { printQuery, withQueryFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

type Kind = 'last' | 'distinct';
const KINDS: readonly Kind[] = ['last', 'distinct'];

interface CreateOptions {
  readonly kind: Kind;
  readonly table: string;
  readonly name?: string;
  readonly columns?: readonly string[];
  readonly values?: readonly string[];
  readonly count?: number;
  readonly ttl?: number;
  readonly maxCardinality?: number;
  readonly maxAge?: number;
}

export function cacheCommand(): Command {
  return new Command('cache')
    .description('create, list and delete last-value and distinct-value caches')
    .addCommand(create())
    .addCommand(list())
    .addCommand(remove())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth cache create -d home --kind last --table readings --columns room --count 3\n  plinth cache create -d home --kind distinct --table readings --columns floor,room\n  plinth query -d home "SELECT * FROM last_cache(\'readings\')"',
    );
}

function create(): Command {
  const command = about('create', 'create a cache, filled from stored data')
    .option('--name <name>', 'cache name (default: generated from table and columns)')
    .option('--columns <names>', 'last: key columns; distinct: columns', split)
    .option('--values <names>', 'last: value columns (default: all others)', split)
    .option('--count <n>', 'last: rows per key', parseCount)
    .option(
      '--ttl <duration>',
      'last: lifetime of a row, in seconds or as a duration such as 30m',
      parseSeconds,
    )
    .option('--max-cardinality <n>', 'distinct: maximum number of combinations', parseCount)
    .option(
      '--max-age <duration>',
      'distinct: maximum age of a combination, in seconds or as 30d',
      parseSeconds,
    );
  return command.action(async () => {
    const options = command.opts<CreateOptions>();
    const connection = connectionOf(command.opts());
    if (options.kind === 'distinct' && options.columns === undefined) {
      throw new CommandFailed('a distinct cache requires --columns', EXIT.usage);
    }
    const json =
      options.kind === 'last'
        ? {
            key_columns: options.columns,
            value_columns: options.values,
            count: options.count,
            ttl: options.ttl,
          }
        : {
            columns: options.columns,
            max_cardinality: options.maxCardinality,
            max_age: options.maxAge,
          };
    const { table, name } = options;
    await callOk(connection, pathOf(options.kind), {
      json: { db: databaseOf(connection), table, name, ...json },
    });
    print(`${options.kind} cache of ${table} created\n`);
  });
}

function list(): Command {
  const connected = withConnection(new Command('list'), { database: true });
  const command = withQueryFormat(connected).description('list the caches of a database');
  return command.action(async () => {
    // The kinds have different columns: two tables when pretty-printed, one list in other formats.
    if (command.opts()['format'] !== 'pretty') {
      const all = KINDS.map(rowsOf).join(' UNION ALL ');
      await printQuery(command, { q: `${all} ORDER BY kind DESC, "table", name` });
      return;
    }
    for (const kind of KINDS)
      await printQuery(command, { q: `SELECT '${kind}' AS kind, * FROM system.${kind}_caches` });
  });
}

const COLUMNS: Readonly<Record<Kind, readonly string[]>> = {
  last: [
    ...['key_column_ids', 'key_column_names', 'value_column_ids', 'value_column_names'],
    ...['count', 'ttl'],
  ],
  distinct: ['column_ids', 'column_names', 'max_cardinality', 'max_age_seconds'],
};

/** Returns a query that lists the caches of one kind, with the columns of all kinds. */
function rowsOf(kind: Kind): string {
  const columns = Object.values(COLUMNS)
    .flat()
    .map((name) => (COLUMNS[kind].includes(name) ? name : `NULL AS ${name}`));
  return `SELECT '${kind}' AS kind, "table", name, ${columns.join(', ')} FROM system.${kind}_caches`;
}

function remove(): Command {
  const command = about('delete', 'delete a cache').requiredOption('--name <name>', 'cache name');
  return command.action(async () => {
    const { kind, table, name } = command.opts<CreateOptions & { name: string }>();
    const connection = connectionOf(command.opts());
    const query = { db: databaseOf(connection), table, name };
    await callOk(connection, pathOf(kind), { method: 'DELETE', query });
    print(`${kind} cache ${name} deleted\n`);
  });
}

function about(name: string, description: string): Command {
  return withConnection(new Command(name), { database: true })
    .description(description)
    .addOption(new Option('--kind <kind>', 'last or distinct').choices(KINDS).makeOptionMandatory())
    .requiredOption('--table <name>', 'table name');
}

const pathOf = (kind: Kind): string => `api/v3/configure/${kind}_cache`;
const split = (text: string): string[] => text.split(',').filter((part) => part !== '');

const parseSeconds = (text: string): number => secondsOf(text) ?? parseCount(text);

function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new InvalidArgumentError('Use a non-negative integer of at most 15 digits.');
  return Number(text);
}
