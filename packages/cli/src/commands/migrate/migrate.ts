import { stat } from 'node:fs/promises';
import { messageOf } from '@plinth/kernel';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { type Connection, connectionOf, databaseOf, withConnection } from '../connection.js';
import { printNote } from '../output/terminal.js';
import { parseConcurrency } from '../rows/write.js';
import { annotatedCsv, isAnnotatedCsv } from './annotated-csv.js';
import { portableSource } from './influxdb1.js';
import { fileSource } from './line-files.js';
import { graphite, metrics } from './metric-formats.js';
import { moveQueries, planQueries } from './move-queries.js';
import { moveUsers } from './move-users.js';
import { type RunOptions, runMigration, type Source } from './run-migration.js';

interface Options extends RunOptions {
  readonly temp?: string;
  readonly users?: true;
}

const EXAMPLES = `
Examples:
  influxd backup -portable ./backup          # on the old 1.x server
  plinth migrate influxdb1 ./backup --users
  plinth migrate influxdb1 export.lp.gz      # from influx_inspect export
  plinth migrate influxdb2 -d weather bucket.lp.gz
  plinth migrate prometheus -d metrics export.jsonl

The command reads everything first. If a part is unreadable, it writes nothing. An interrupted run continues where it
stopped when you start it again.`;

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate data from InfluxDB, Prometheus, VictoriaMetrics and Graphite')
    .addHelpText('after', EXAMPLES)
    .addCommand(influxdb1Command())
    .addCommand(
      fileCommand(
        'influxdb2',
        'migrate `influxd inspect export-lp` files or `influx query --raw` CSV',
        (files) => fileSource(files, (head) => (isAnnotatedCsv(head) ? annotatedCsv : undefined)),
      ),
    )
    .addCommand(
      fileCommand(
        'prometheus',
        'migrate VictoriaMetrics /api/v1/export or `promtool tsdb dump` files',
        (files) => fileSource(files, () => metrics),
      ),
    )
    .addCommand(
      fileCommand(
        'graphite',
        'migrate Graphite files with lines of the form `path value seconds`',
        (files) => fileSource(files, () => graphite),
      ),
    );
}

const withRun = (command: Command): Command =>
  command
    .option('--dry-run', 'read and count everything without writing')
    .option('--keep', 'skip unreadable parts and write the rest')
    .option('--concurrency <n>', 'concurrent requests, 1 to 16', parseConcurrency, 4);

function fileCommand(
  name: string,
  description: string,
  open: (files: readonly string[]) => Promise<Source>,
): Command {
  const command = withConnection(new Command(name), { database: true })
    .description(description)
    .argument('<file...>', 'files, optionally gzip-compressed');
  return withRun(command).action(async (files: string[]) => {
    const connection = connectionOf(command.opts());
    databaseOf(connection);
    await run(await open(files), connection, command.opts<Options>());
  });
}

function influxdb1Command(): Command {
  const command = withConnection(new Command('influxdb1'), { database: false })
    .description('migrate an `influxd backup -portable` folder or `influx_inspect` exports')
    .argument('<path...>', 'backup folder or export files, optionally gzip-compressed');
  withRun(command)
    .option(
      '--temp <folder>',
      'folder for unpacking a backup (default: temporary folder of the system)',
    )
    .option('--users', 'create the users of a backup with new passwords, which are shown once');
  return command.action(async (paths: string[]) => {
    const options = command.opts<Options>();
    const connection = connectionOf(command.opts());
    const [path = ''] = paths;
    if (!(await isFolder(path))) {
      await run(await fileSource(paths, () => undefined), connection, options);
      return;
    }
    if (paths.length > 1)
      throw new CommandFailed(
        'only one folder can be migrated at a time; run the command once per folder',
        EXIT.usage,
      );
    const source = await portableSource(path, options.temp);
    try {
      const { users } = source.backup;
      const queries = planQueries(source.backup, source.names);
      await run(source, connection, options);
      if (users.length > 0 && !options.users)
        printNote(
          `users not created: ${users.length}; use --users to create them with new passwords\n`,
        );
      else if (!options.dryRun) await moveUsers(users, connection);
      await moveQueries(queries, connection, options);
    } finally {
      await source.close();
    }
  });
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new CommandFailed(`cannot read ${path}: ${messageOf(error)}`);
  }
}

async function run(source: Source, connection: Connection, options: Options): Promise<void> {
  if (!(await runMigration(source, connection, options))) process.exitCode = EXIT.failed;
}
