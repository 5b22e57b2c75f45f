import { stat } from 'node:fs/promises';
import { messageOf } from '@plinth/kernel';
import { Command } from 'commander';
import { type Connection, connectionOf, databaseOf, withConnection } from '../connection.js';
import { CommandFailed, EXIT } from '../output/exit.js';
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
  readonly plugins?: string;
}

const EXAMPLES = `
Examples:
  influxd backup -portable ./backup          # on the old server, 1.x
  plinth migrate influxdb1 ./backup --users --plugins ./plugins
  plinth migrate influxdb1 export.lp.gz      # of influx_inspect export
  plinth migrate influxdb2 -d weather bucket.lp.gz
  plinth migrate prometheus -d metrics export.jsonl

Everything is looked through first: when something cannot be read, nothing is written. A run that was interrupted goes on
where it ended when it is started again.`;

/** `plinth migrate`. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('move data in from InfluxDB 1.x and 2.x, Prometheus, VictoriaMetrics and Graphite')
    .addHelpText('after', EXAMPLES)
    .addCommand(influxdb1Command())
    .addCommand(
      fileCommand(
        'influxdb2',
        'files of `influxd inspect export-lp`, or annotated CSV of `influx query --raw`',
        (files) => fileSource(files, (head) => (isAnnotatedCsv(head) ? annotatedCsv : undefined)),
      ),
    )
    .addCommand(
      fileCommand(
        'prometheus',
        'files of /api/v1/export of VictoriaMetrics, or of `promtool tsdb dump`',
        (files) => fileSource(files, () => metrics),
      ),
    )
    .addCommand(
      fileCommand('graphite', 'files with lines of `path value seconds`', (files) =>
        fileSource(files, () => graphite),
      ),
    );
}

const withRun = (command: Command): Command =>
  command
    .option('--dry-run', 'look through everything and count it; write nothing')
    .option('--keep', 'leave out what cannot be read, and write the rest')
    .option('--concurrency <n>', 'requests on their way at once, 1 to 16', parseConcurrency, 4);

function fileCommand(
  name: string,
  description: string,
  open: (files: readonly string[]) => Promise<Source>,
): Command {
  const command = withConnection(new Command(name), { database: true })
    .description(description)
    .argument('<file...>', 'the files, also .gz');
  return withRun(command).action(async (files: string[]) => {
    const connection = connectionOf(command.opts());
    databaseOf(connection);
    await run(await open(files), connection, command.opts<Options>());
  });
}

function influxdb1Command(): Command {
  const command = withConnection(new Command('influxdb1'), { database: false })
    .description('a folder of `influxd backup -portable`, or files of `influx_inspect export`')
    .argument('<path...>', 'the folder, or the files, also .gz');
  withRun(command)
    .option(
      '--temp <folder>',
      'where a backup is unpacked (default: the folder of the system for that)',
    )
    .option('--users', 'make the users of a backup, with new passwords that are shown once')
    .option(
      '--plugins <folder>',
      'write plugins for the continuous queries of a backup there, instead of showing them',
    );
  return command.action(async (paths: string[]) => {
    const options = command.opts<Options>();
    const connection = connectionOf(command.opts());
    const [path = ''] = paths;
    if (!(await isFolder(path))) {
      await run(await fileSource(paths, () => undefined), connection, options);
      return;
    }
    if (paths.length > 1) throw new CommandFailed('one folder at a time', EXIT.usage);
    const source = await portableSource(path, options.temp);
    try {
      const { users } = source.backup;
      const queries = await planQueries(source.backup, source.names, options.plugins);
      await run(source, connection, options);
      if (users.length > 0 && !options.users)
        printNote(
          `${users.length} users were not made: say --users, and each gets a new password\n`,
        );
      else if (!options.dryRun) await moveUsers(users, connection);
      await moveQueries(queries, options);
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
