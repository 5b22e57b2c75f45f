import { isObject } from '@plinth/kernel';
import { Command } from 'commander';
import { callOk, connectionOf, withConnection } from '../connection.js';
import { readTextInput } from '../input/text-input.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { print } from '../output/terminal.js';

const EXAMPLES = `
Examples:
  echo '{"issue":{"number":1}}' | plinth event publish --event issues --action opened --payload -
  plinth event publish --event deploy --payload deploy.json --app 1 --id deploy-42`;

/** `plinth event`. */
export function eventCommand(): Command {
  const event = new Command('event')
    .description('publish events to the webhooks of apps')
    .addHelpText('after', EXAMPLES);
  const publish = withConnection(new Command('publish'), { database: false })
    .description('publish one event')
    .requiredOption('--event <name>', 'name of the event')
    .requiredOption('--payload <file>', 'JSON object; - for standard input')
    .option('--action <action>', 'what happened')
    .option('--app <id>', 'to this app only; an id or a client id')
    .option('--id <key>', 'idempotency key: the same event is published once')
    .option('--ordering-key <key>', 'events with the same key go one after the other')
    .option('--deliver-at <time>', 'not before this time, ISO 8601')
    .action(async () => {
      const options = publish.opts<Record<string, string | undefined>>();
      const { app } = options;
      const payload = (await readTextInput(options['payload'] ?? '-')).trim();
      refuseOther(payload);
      const fields = {
        event: options['event'],
        action: options['action'],
        id: options['id'],
        ordering_key: options['orderingKey'],
        deliver_at: options['deliverAt'],
        ...(app !== undefined &&
          (/^\d+$/.test(app) ? { app_id: Number(app) } : { client_id: app })),
      };
      // The payload goes as it was written: its digits stay as they are.
      const body = `${JSON.stringify(fields).slice(0, -1)},"payload":${payload}}`;
      const response = await callOk(connectionOf(publish.opts()), 'ops/v1/events', {
        body: Buffer.from(body),
      });
      print(`${JSON.stringify(await response.json(), null, 2)}\n`);
    });
  return event.addCommand(publish);
}

function refuseOther(payload: string): void {
  try {
    if (isObject(JSON.parse(payload))) return;
  } catch {
    // Said below.
  }
  throw new CommandFailed('--payload: not a JSON object', EXIT.usage);
}
