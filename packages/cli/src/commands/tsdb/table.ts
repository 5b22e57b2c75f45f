import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { printQuery, withQueryFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';
import { printPolicies } from './policies.js';
import { publishCommand, publishedCommand } from './publish.js';
import { rename, withDryRun } from './rename.js';

const PATH = 'api/v3/configure/table';

export function tableCommand(): Command {
  return new Command('table')
    .description('create, list, change, rename, delete, restore and publish tables')
    .addCommand(list())
    .addCommand(create())
    .addCommand(update())
    .addCommand(remove())
    .addCommand(undelete())
    .addCommand(renameTable())
    .addCommand(forgetName())
    .addCommand(publishCommand())
    .addCommand(publishedCommand())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth table create -d home readings --tags room,floor --fields temp:float64,note:utf8\n  plinth table delete -d home readings --hard-delete default\n  plinth table rename -d home readings measurements --dry-run\n  plinth table publish -d home',
    );
}

function list(): Command {
  const connected = withConnection(new Command('list'), { database: true });
  const command = withQueryFormat(connected).description('list the tables of a database');
  return command.action(async () => {
    await printQuery(command, {
      q: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY table_name",
    });
    await printPolicies(connectionOf(command.opts()));
  });
}

function create(): Command {
  const command = named('create', 'create a table')
    .option('--tags <names>', 'comma-separated tag columns, in series key order', '')
    .option(
      '--fields <name:type,...>',
      'fields with types utf8, int64, uint64, float64 or bool',
      '',
    );
  return command.action(async (table: string) => {
    const { tags, fields } = command.opts<{ tags: string; fields: string }>();
    const connection = connectionOf(command.opts());
    const json = {
      db: databaseOf(connection),
      table,
      tags: split(tags),
      fields: split(fields).map(readField),
    };
    await callOk(connection, PATH, { json });
    print(`table ${table} created\n`);
  });
}

function update(): Command {
  const command = named('update', 'set or clear the retention period of a table').requiredOption(
    '--retention-period <duration>',
    'retention period, such as 30d; none uses that of the database',
  );
  return command.action(async (table: string) => {
    const { retentionPeriod } = command.opts<{ retentionPeriod: string }>();
    const connection = connectionOf(command.opts());
    const retention_period = retentionPeriod === 'none' ? null : retentionPeriod;
    const json = { db: databaseOf(connection), table, retention_period };
    await callOk(connection, PATH, { method: 'PUT', json });
    print(`table ${table} updated\n`);
  });
}

function remove(): Command {
  const command = named(
    'delete',
    'delete a table; --hard-delete sets when its data is removed',
  ).option('--hard-delete <when>', 'when to delete the data: now, never, default or a time');
  return command.action(async (table: string) => {
    const { hardDelete } = command.opts<{ hardDelete?: string }>();
    const connection = connectionOf(command.opts());
    const query = {
      db: databaseOf(connection),
      table,
      ...(hardDelete !== undefined && { hard_delete_at: hardDelete }),
    };
    await callOk(connection, PATH, { method: 'DELETE', query });
    print(`table ${table} deleted\n`);
  });
}

function undelete(): Command {
  const command = named('undelete', 'restore a deleted table whose data still exists');
  return command.action(async (table: string) => {
    const connection = connectionOf(command.opts());
    await callOk(connection, `${PATH}/undelete`, { json: { db: databaseOf(connection), table } });
    print(`table ${table} restored\n`);
  });
}

function renameTable(): Command {
  const command = withDryRun(
    named('rename', 'rename a table without rewriting files').argument('<new-name>'),
  );
  return command.action(async (table: string, newName: string) => {
    await rename(command, `${PATH}/rename`, { table, new_name: newName }, `table ${table}`);
  });
}

function forgetName(): Command {
  const command = named('forget-name', 'free the former name of a renamed table');
  return command.action(async (table: string) => {
    const connection = connectionOf(command.opts());
    await callOk(connection, `${PATH}/forget_name`, {
      json: { db: databaseOf(connection), table },
    });
    print(`former name ${table} freed\n`);
  });
}

function named(name: string, description: string): Command {
  return withConnection(new Command(name), { database: true })
    .description(description)
    .argument('<table>');
}

const split = (text: string): string[] => text.split(',').filter((part) => part !== '');

function readField(text: string): { readonly name: string; readonly type: string } {
  const colon = text.lastIndexOf(':');
  if (colon < 1) throw new CommandFailed(`--fields ${text}: use name:type`, EXIT.usage);
  return { name: text.slice(0, colon), type: text.slice(colon + 1) };
}
