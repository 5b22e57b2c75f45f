import { Command } from 'commander';
import { connectionOf, withConnection } from './connection.js';
import { CommandFailed, EXIT } from './exit.js';
import { writeFiles } from './write.js';

interface ImportOptions {
  readonly table: string;
  readonly tag: readonly string[];
  readonly time: string;
}

/** `plinth import`. */
export function importCommand(): Command {
  const command = withConnection(new Command('import'), { database: true })
    .description('read files of Parquet (.parquet) or CSV (.csv, also .gz) into a table')
    .argument('<file...>', 'the files')
    .requiredOption('--table <name>', 'the table')
    .option('--tag <columns>', 'columns that are tags; all others are fields', split, [])
    .option('--time <column>', 'column with the time', 'time')
    .addHelpText(
      'after',
      '\nExample:\n  plinth import -d home --table readings --tag room readings.parquet\n\n`plinth write` takes line protocol, and CSV with more choices.',
    );
  return command.action(async (files: string[]) => {
    const { table, tag, time } = command.opts<ImportOptions>();
    const connection = connectionOf(command.opts());
    for (const file of files) {
      await writeFiles([file], { ...formatOf(file), table, tag, time, ...HOW }, connection);
    }
  });
}

/** As `plinth write` does without other flags. */
const HOW = {
  precision: 'ns',
  acceptPartial: true,
  sync: true,
  concurrency: 4,
  field: new Map(),
  timeFormat: 'auto',
} as const;

function formatOf(file: string): { readonly csv: true } | { readonly parquet: true } {
  if (/\.csv(?:\.gz)?$/i.test(file)) return { csv: true };
  if (/\.parquet$/i.test(file)) return { parquet: true };
  throw new CommandFailed(`${file}: neither .parquet nor .csv`, EXIT.usage);
}

const split = (text: string): string[] => text.split(',').filter((part) => part !== '');
