import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, Option } from 'commander';
import { callOk, connectionOf, databaseOf, withConnection } from '../connection.js';
import { printQuery, withQueryFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

const PATH = 'api/v3/configure/processing_engine_trigger';

interface CreateOptions {
  readonly plugin: string;
  readonly spec: string;
  readonly args?: string;
  readonly async: boolean;
  readonly onError: string;
  readonly disabled: boolean;
}

export function triggerCommand(): Command {
  return new Command('trigger')
    .description('run Python plugins on writes, schedules and requests')
    .addCommand(create())
    .addCommand(list())
    .addCommand(logs())
    .addCommand(change('enable', 'enable a trigger'))
    .addCommand(change('disable', 'disable a trigger and cancel its runs'))
    .addCommand(remove())
    .addHelpText(
      'after',
      '\nExamples:\n  plinth trigger create hourly -d home --plugin downsample.py --spec every:1h --args table=readings\n  plinth trigger create hello -d home --plugin hello.py --spec request:hello\n  plinth trigger logs hourly -d home',
    );
}

function create(): Command {
  const command = named('create', 'create a trigger')
    .requiredOption('--plugin <file>', 'file or folder in the plugin folder, or gh:<path>')
    .requiredOption(
      '--spec <text>',
      'all_tables, table:<name>, cron:<6 fields>, every:<duration> or request:<path>',
    )
    .option('--args <list>', 'arguments of the plugin: key=value,key=value')
    .option('--async', 'allow overlapping runs', false)
    .addOption(
      new Option('--on-error <what>', 'action when a run fails')
        .choices(['log', 'retry', 'disable'])
        .default('log'),
    )
    .option('--disabled', 'create the trigger disabled', false);
  return command.action(async (name: string) => {
    const options = command.opts<CreateOptions>();
    const connection = connectionOf(command.opts());
    await callOk(connection, PATH, {
      json: {
        db: databaseOf(connection),
        trigger_name: name,
        plugin_filename: options.plugin,
        trigger_specification: options.spec,
        trigger_arguments: options.args === undefined ? undefined : readArguments(options.args),
        trigger_settings: { run_async: options.async, error_behavior: options.onError },
        disabled: options.disabled,
      },
    });
    print(`trigger ${name} created${options.disabled ? ', disabled' : ''}\n`);
  });
}

function list(): Command {
  const connected = withConnection(new Command('list'), { database: true });
  const command = withQueryFormat(connected).description('list the triggers of a database');
  const q = 'SELECT * FROM system.processing_engine_triggers ORDER BY trigger_name';
  return command.action(() => printQuery(command, { q }));
}

function logs(): Command {
  const command = withQueryFormat(withConnection(new Command('logs'), { database: true }))
    .description('show log entries of triggers, oldest first')
    .argument('[name]', 'show only entries of this trigger')
    .option('-n, --lines <n>', 'maximum number of entries', '50');
  return command.action(async (name: string | undefined) => {
    const count = Number(command.opts()['lines']);
    if (!Number.isInteger(count) || count < 1) {
      throw new CommandFailed('--lines must be an integer of at least 1', EXIT.usage);
    }
    const where = name === undefined ? '' : ` WHERE trigger_name = '${name.replaceAll("'", "''")}'`;
    const last = `SELECT * FROM system.processing_engine_logs${where} ORDER BY event_time DESC LIMIT ${count}`;
    await printQuery(command, { q: `SELECT * FROM (${last}) AS l ORDER BY event_time` });
  });
}

function change(verb: 'enable' | 'disable', description: string): Command {
  const command = named(verb, description);
  return command.action(async (name: string) => {
    const connection = connectionOf(command.opts());
    const json = { db: databaseOf(connection), trigger_name: name };
    await callOk(connection, `${PATH}/${verb}`, { json });
    print(`trigger ${name} ${verb}d\n`);
  });
}

function remove(): Command {
  const command = named('delete', 'delete a trigger and keep its plugin').option(
    '--force',
    'delete the trigger even if it is enabled',
    false,
  );
  return command.action(async (name: string) => {
    const connection = connectionOf(command.opts());
    const json = {
      db: databaseOf(connection),
      trigger_name: name,
      force: command.opts()['force'] === true,
    };
    await callOk(connection, PATH, { method: 'DELETE', json });
    print(`trigger ${name} deleted\n`);
  });
}

function named(name: string, description: string): Command {
  return withConnection(new Command(name), { database: true })
    .description(description)
    .argument('<name>', 'trigger name');
}

/** Parses `key=value,key=value`. Values may contain spaces and equals signs, but no comma. */
export function readArguments(text: string): Record<string, string> {
  const args: Record<string, string> = Object.create(null);
  for (const part of text.split(',')) {
    const equals = part.indexOf('=');
    if (equals < 1) throw new CommandFailed(`${part}: use key=value,key=value`, EXIT.usage);
    args[part.slice(0, equals).trim()] = part.slice(equals + 1);
  }
  return args;
}
