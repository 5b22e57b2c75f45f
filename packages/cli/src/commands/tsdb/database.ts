import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, Option } from 'commander';
import { callOk, connectionOf, withConnection } from '../connection.js';
import { withQueryFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

const PATH = 'api/v3/configure/database';
const WHEN = 'when to delete the data: now, never, default or 2026-01-31T00:00:00Z';

export function databaseCommand(): Command {
  return new Command('database')
    .description('create, list, change, delete and restore databases')
    .addCommand(list())
    .addCommand(create())
    .addCommand(update())
    .addCommand(remove())
    .addCommand(undelete())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth database create home --retention-period 30d\n  plinth database list --show-deleted\n  plinth database delete home\n  plinth database undelete home',
    );
}

function list(): Command {
  const connected = withConnection(new Command('list'), { database: false });
  const command = withQueryFormat(connected)
    .description('list databases')
    .option('--show-deleted', 'include deleted databases');
  return command.action(async () => {
    const { showDeleted, format } = command.opts<{ showDeleted?: true; format: string }>();
    const query = { format, ...(showDeleted && { show_deleted: 'true' }) };
    const response = await callOk(connectionOf(command.opts()), PATH, { query });
    print(`${(await response.text()).trimEnd()}\n`);
  });
}

function create(): Command {
  const command = named('create', 'create a database')
    .option('--retention-period <duration>', 'delete rows older than this, such as 30d')
    .addOption(integerFieldsOption());
  return command.action(async (db: string) => {
    const { retentionPeriod, integerFields } = command.opts<Settings>();
    const json = {
      db,
      ...(retentionPeriod && { retention_period: retentionPeriod }),
      ...(integerFields && { integer_fields: integerFields }),
    };
    await callOk(connectionOf(command.opts()), PATH, { json });
    print(`database ${db} created\n`);
  });
}

function update(): Command {
  const command = named('update', 'change the retention period or the type of new integer fields')
    .option('--retention-period <duration>', 'retention period, such as 30d; none keeps all rows')
    .addOption(integerFieldsOption());
  return command.action(async (db: string) => {
    const { retentionPeriod, integerFields } = command.opts<Settings>();
    if (retentionPeriod === undefined && integerFields === undefined) {
      throw new CommandFailed('use --retention-period or --integer-fields', EXIT.usage);
    }
    const json = {
      db,
      ...(retentionPeriod !== undefined && {
        retention_period: retentionPeriod === 'none' ? null : retentionPeriod,
      }),
      ...(integerFields && { integer_fields: integerFields }),
    };
    await callOk(connectionOf(command.opts()), PATH, { method: 'PUT', json });
    print(`database ${db} updated\n`);
  });
}

interface Settings {
  readonly retentionPeriod?: string;
  readonly integerFields?: string;
}

const integerFieldsOption = (): Option =>
  new Option(
    '--integer-fields <type>',
    'column type of new integer fields; with float, integers become floats',
  ).choices(['integer', 'float']);

function remove(): Command {
  const command = named(
    'delete',
    'delete a database; --hard-delete sets when its data is removed',
  ).option('--hard-delete <when>', WHEN);
  return command.action(async (db: string) => {
    const { hardDelete } = command.opts<{ hardDelete?: string }>();
    const query = { db, ...(hardDelete !== undefined && { hard_delete_at: hardDelete }) };
    await callOk(connectionOf(command.opts()), PATH, { method: 'DELETE', query });
    print(`database ${db} deleted\n`);
  });
}

function undelete(): Command {
  const command = named('undelete', 'restore a deleted database whose data still exists');
  return command.action(async (db: string) => {
    await callOk(connectionOf(command.opts()), `${PATH}/undelete`, { json: { db } });
    print(`database ${db} restored\n`);
  });
}

function named(name: string, description: string): Command {
  return withConnection(new Command(name), { database: false })
    .description(description)
    .argument('<database>');
}
