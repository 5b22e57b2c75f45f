import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { connectionOf, withConnection } from '../connection.js';
import { isJson, withFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { deliveriesOf } from './deliveries.js';
import {
  forward,
  newSecret,
  registerApp,
  removeApp,
  type TargetResponse,
  targetOf,
} from './relay.js';

const EXAMPLES = `
Examples:
  plinth webhook listen --forward-to localhost:3000/hook --events issues,push
                        registers a temporary app and forwards its deliveries
  plinth webhook listen --port 9000 --secret s3cret
  plinth app create --name dev --webhook-url http://127.0.0.1:9000/ --secret s3cret --events '*'
  plinth webhook deliveries dev

A server delivers to this machine only if its setting webhooks.allow_private_targets allows it.`;

/** Exceeds the size of the largest payload after form encoding. */
const MAX_BODY_SIZE_BYTES = 128 * 1024 * 1024;

interface ListenOptions {
  readonly port: string;
  readonly bind: string;
  readonly secret?: string;
  readonly status: string;
  readonly forwardTo?: string;
  readonly events?: string;
  readonly url?: string;
}

export function webhookCommand(): Command {
  return new Command('webhook')
    .description('receive deliveries on this machine and list those of an app')
    .addHelpText('after', EXAMPLES)
    .addCommand(listenCommand())
    .addCommand(deliveriesOf());
}

function listenCommand(): Command {
  const listen = withConnection(new Command('listen'), { database: false })
    .description('receive, verify and print deliveries')
    .option('--port <port>', 'port to listen on; 0 picks a free port', '9000')
    .option('--bind <address>', 'address to listen on', '127.0.0.1')
    .option('--secret <text>', 'secret for signature checks')
    .option('--status <code>', 'response status', '200')
    .option('--forward-to <url>', 'forward deliveries to this URL and return its responses')
    .option('--events <list>', 'register a temporary app for these events (comma-separated)')
    .option('--url <url>', 'with --events: URL at which the server can reach this command');
  return withFormat(listen).action(() => runReceiver(listen));
}

async function runReceiver(command: Command): Promise<void> {
  const options = command.opts<ListenOptions>();
  const port = numberOf(options.port, 65_535, '--port');
  const status = numberOf(options.status, 599, '--status');
  const target = options.forwardTo === undefined ? undefined : targetOf(options.forwardTo);
  const { events } = options;
  const secret = options.secret ?? (events === undefined ? undefined : newSecret());
  const server = createServer((request, response) => {
    readBody(request).then(
      async (body) => {
        const verdict = verify(request, body, secret);
        const answer: TargetResponse =
          verdict === 'invalid signature'
            ? { status: 401, body: verdict }
            : target === undefined
              ? { status, body: 'ok' }
              : await forward(target, request, body);
        const describe = isJson(command) ? describeAsJson : describeAsText;
        print(describe(request, body, verdict, target && answer));
        response.writeHead(answer.status).end(answer.body);
      },
      () => response.writeHead(413).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new CommandFailed(`cannot listen on ${options.bind}:${port}: ${error.message}`)),
    );
    server.listen(port, options.bind, resolve);
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  const url = `http://${options.bind}:${actual}/`;
  const end = (): void => {
    server.close();
    server.closeAllConnections();
  };
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  try {
    printNote(`listening on ${url} (stop with Ctrl-C)\n`);
    if (events === undefined || secret === undefined) return await stopped;
    const connection = connectionOf(command.opts());
    const app = await registerApp(connection, { url: options.url ?? url, secret, events });
    try {
      const made = options.secret === undefined ? `; its secret: ${secret}` : '';
      printNote(`app ${app} is registered until this command stops${made}\n`);
      await stopped;
    } finally {
      await removeApp(connection, app);
      printNote(`app ${app} removed\n`);
    }
  } finally {
    end();
  }
}

type Verdict = 'valid signature' | 'invalid signature' | 'not signed' | 'signature not checked';

function verify(request: IncomingMessage, body: Buffer, secret: string | undefined): Verdict {
  const signature = request.headers['x-hub-signature-256'];
  if (typeof signature !== 'string')
    return secret === undefined ? 'not signed' : 'invalid signature';
  if (secret === undefined) return 'signature not checked';
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const isRight =
    signature.length === expected.length &&
    timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
  return isRight ? 'valid signature' : 'invalid signature';
}

function describeAsText(
  request: IncomingMessage,
  body: Buffer,
  verdict: Verdict,
  reply: TargetResponse | undefined,
): string {
  const { event, guid } = namesOf(request);
  const text = payloadOf(request, body);
  const lines = [
    `${new Date().toISOString()}  ${event}  ${guid}  ${verdict}${reply ? `  -> ${reply.status}` : ''}`,
    ...pretty(text).split('\n'),
  ];
  return `${lines.join('\n  ')}\n\n`;
}

function describeAsJson(
  request: IncomingMessage,
  body: Buffer,
  verdict: Verdict,
  reply: TargetResponse | undefined,
): string {
  const { headers } = request;
  return `${JSON.stringify({ ...namesOf(request), verdict, forwarded: reply?.status, headers, payload: payloadOf(request, body) })}\n`;
}

/** Reads the event headers. The header names can contain any vendor name. */
function namesOf({ headers }: IncomingMessage): { readonly event: string; readonly guid: string } {
  const find = (pattern: RegExp): string => {
    const name = Object.keys(headers).find((one) => pattern.test(one));
    return name === undefined ? '?' : String(headers[name]);
  };
  return { event: find(/^x-.+-event$/), guid: find(/^x-.+-delivery$/) };
}

function payloadOf({ headers }: IncomingMessage, body: Buffer): string {
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
  return isForm ? (new URLSearchParams(body.toString()).get('payload') ?? '') : body.toString();
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_SIZE_BYTES)
      throw new Error(`the request body is larger than ${MAX_BODY_SIZE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function numberOf(text: string, max: number, flag: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw new CommandFailed(
    `${flag} "${text}" is not valid; use an integer from 0 to ${max}`,
    EXIT.usage,
  );
}
