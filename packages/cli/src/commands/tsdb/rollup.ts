import { Command } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { printQuery, withQueryFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

const PATH = 'api/v3/configure/rollup';

interface CreateOptions {
  readonly every: string;
  readonly for?: string;
  readonly as: string;
  readonly into: string;
}

export function rollupCommand(): Command {
  return new Command('rollup')
    .description('aggregate each time interval and write the results to a table')
    .addCommand(create())
    .addCommand(list())
    .addCommand(remove())
    .addHelpText(
      'after',
      `\nExample:\n  plinth rollup create hourly -d home --every 1h --for 3h --into temp_hourly \\\n    --as 'SELECT date_bin(INTERVAL $$1 hour$$, time) AS time, room, avg(temp) AS temp FROM home WHERE time >= $from AND time < $to GROUP BY 1, 2'`.replaceAll(
        '$$',
        "'\\''",
      ),
    );
}

function create(): Command {
  const command = named('create', 'create a rollup')
    .requiredOption('--every <duration>', 'interval, such as 1m')
    .option('--for <duration>', 'time range that each run computes again, for late rows')
    .requiredOption('--as <sql>', 'query with WHERE time >= $from AND time < $to')
    .requiredOption('--into <table>', 'table for the results');
  return command.action(async (name: string) => {
    const options = command.opts<CreateOptions>();
    const connection = connectionOf(command.opts());
    await callOk(connection, PATH, {
      json: {
        db: databaseOf(connection),
        rollup_name: name,
        query: options.as,
        table: options.into,
        every: options.every,
        for: options.for,
      },
    });
    print(`rollup ${name} created\n`);
  });
}

function list(): Command {
  const connected = withConnection(new Command('list'), { database: true });
  const command = withQueryFormat(connected).description(
    'list the rollups and continuous queries of a database',
  );
  const q =
    'SELECT name, language, target, run_every, run_for, position, last_run, last_error, rows_written FROM system.continuous_queries ORDER BY name';
  return command.action(() => printQuery(command, { q }));
}

function remove(): Command {
  const command = named('delete', 'delete a rollup or continuous query, and keep its results');
  return command.action(async (name: string) => {
    const connection = connectionOf(command.opts());
    const json = { db: databaseOf(connection), rollup_name: name };
    await callOk(connection, PATH, { method: 'DELETE', json });
    print(`rollup ${name} deleted\n`);
  });
}

function named(name: string, description: string): Command {
  return withConnection(new Command(name), { database: true })
    .description(description)
    .argument('<name>', 'rollup name');
}
