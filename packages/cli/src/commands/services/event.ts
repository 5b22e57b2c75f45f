import { invariant, isObject } from '@plinth/kernel';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Argument, Command } from 'commander';
import { type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { readTextInput } from '../input/text-input.js';
import { print } from '../output/terminal.js';
import { appOf } from './named.js';
import { SAMPLE_NAMES, sampleEvent } from './sample-events.js';

const EXAMPLES = `
Examples:
  echo '{"issue":{"number":1}}' | plinth event publish --event issues --action opened --payload -
  plinth event publish --event deploy --payload deploy.json --app ci --id deploy-42
  plinth event trigger issues.opened --app ci`;

const APP = 'publish only to this app (id, client id or name)';

export function eventCommand(): Command {
  return new Command('event')
    .description('publish events to app webhooks')
    .addHelpText('after', EXAMPLES)
    .addCommand(publishCommand())
    .addCommand(triggerCommand());
}

function publishCommand(): Command {
  const publish = withConnection(new Command('publish'), { database: false })
    .description('publish one event')
    .requiredOption('--event <name>', 'event name')
    .requiredOption('--payload <file>', 'file with a JSON object; - reads standard input')
    .option('--action <action>', 'event action')
    .option('--app <id>', APP)
    .option('--id <key>', 'idempotency key; events with the same key are published once')
    .option('--ordering-key <key>', 'key for in-order delivery')
    .option('--deliver-at <time>', 'earliest delivery time (ISO 8601)');
  return publish.action(async () => {
    const options = publish.opts<Record<string, string | undefined>>();
    const payload = (await readTextInput(options['payload'] ?? '-')).trim();
    refuseOther(payload);
    const fields = {
      event: options['event'],
      action: options['action'],
      id: options['id'],
      ordering_key: options['orderingKey'],
      deliver_at: options['deliverAt'],
    };
    await send(publish, fields, payload);
  });
}

function triggerCommand(): Command {
  const trigger = withConnection(new Command('trigger'), { database: false })
    .description('publish an event with a sample payload')
    .addArgument(new Argument('<name>', 'event name').choices(SAMPLE_NAMES))
    .option('--app <id>', APP);
  return trigger.action(async (name: string) => {
    const sample = sampleEvent(name);
    invariant(sample !== undefined, 'every choice must have a sample');
    const { payload, ...fields } = sample;
    await send(trigger, fields, JSON.stringify(payload));
  });
}

/** Sends the payload verbatim, so that numbers keep all digits. */
async function send(command: Command, fields: object, payload: string): Promise<void> {
  const connection = connectionOf(command.opts());
  const { app } = command.opts<{ app?: string }>();
  const whole = { ...fields, ...(app !== undefined && (await targetOf(connection, app))) };
  const body = Buffer.from(`${JSON.stringify(whole).slice(0, -1)},"payload":${payload}}`);
  const response = await callOk(connection, 'ops/v1/events', { body });
  print(`${JSON.stringify(await response.json(), null, 2)}\n`);
}

async function targetOf(connection: Connection, said: string): Promise<object> {
  const app = await appOf(connection, said);
  return /^\d+$/.test(app) ? { app_id: Number(app) } : { client_id: app };
}

function refuseOther(payload: string): void {
  try {
    if (isObject(JSON.parse(payload))) return;
  } catch {
    // Reported below.
  }
  throw new CommandFailed('--payload: the file must contain a JSON object', EXIT.usage);
}
