import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { Command } from 'commander';
import { CommandFailed, EXIT } from '../output/exit.js';
import { print, tell } from '../output/terminal.js';

const EXAMPLES = `
Example:
  plinth webhook listen --port 9000 --secret s3cret
  plinth app create --name dev --webhook-url http://127.0.0.1:9000/ --secret s3cret --events '*'

A server sends to this machine only when its setting webhooks.allow_private_targets says so.`;

/** More than the largest payload, form-encoded. */
const MAX_BODY_SIZE_BYTES = 128 * 1024 * 1024;

/** `plinth webhook`. */
export function webhookCommand(): Command {
  const webhook = new Command('webhook')
    .description('receive deliveries on this machine')
    .addHelpText('after', EXAMPLES);
  const listen = new Command('listen')
    .description('verify deliveries and print them')
    .option('--port <port>', 'port to listen on; 0 takes a free one', '9000')
    .option('--bind <address>', 'address to listen on', '127.0.0.1')
    .option('--secret <text>', 'with which signatures are checked')
    .option('--status <code>', 'status to answer with', '200')
    .option('--json', 'one JSON object per delivery, for programs')
    .action(async () => {
      await runReceiver(
        listen.opts<{ port: string; bind: string; secret?: string; status: string; json?: true }>(),
      );
    });
  return webhook.addCommand(listen);
}

async function runReceiver(options: {
  readonly port: string;
  readonly bind: string;
  readonly secret?: string;
  readonly status: string;
  readonly json?: true;
}): Promise<void> {
  const port = numberOf(options.port, 65_535, '--port');
  const status = numberOf(options.status, 599, '--status');
  const server = createServer((request, response) => {
    readBody(request).then(
      (body) => {
        const verdict = judge(request, body, options.secret);
        const refused = verdict === 'bad signature';
        print(
          options.json ? describeAsJson(request, body, verdict) : describe(request, body, verdict),
        );
        response.writeHead(refused ? 401 : status).end(refused ? 'bad signature' : 'ok');
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
  tell(`listening on http://${options.bind}:${actual}/ (stop with Ctrl-C)\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}

type Verdict = 'signature is right' | 'bad signature' | 'not signed' | 'signature not checked';

function judge(request: IncomingMessage, body: Buffer, secret: string | undefined): Verdict {
  const given = request.headers['x-hub-signature-256'];
  if (typeof given !== 'string') return secret === undefined ? 'not signed' : 'bad signature';
  if (secret === undefined) return 'signature not checked';
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const isRight =
    given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
  return isRight ? 'signature is right' : 'bad signature';
}

function describe(request: IncomingMessage, body: Buffer, verdict: Verdict): string {
  const { event, guid } = namesOf(request);
  const text = payloadOf(request, body);
  const lines = [
    `${new Date().toISOString()}  ${event}  ${guid}  ${verdict}`,
    ...pretty(text).split('\n'),
  ];
  return `${lines.join('\n  ')}\n\n`;
}

function describeAsJson(request: IncomingMessage, body: Buffer, verdict: Verdict): string {
  const { headers } = request;
  return `${JSON.stringify({ ...namesOf(request), verdict, headers, payload: payloadOf(request, body) })}\n`;
}

/** Whatever the vendor is called. */
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
    if (sizeBytes > MAX_BODY_SIZE_BYTES) throw new Error('body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function numberOf(text: string, max: number, flag: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw new CommandFailed(`${flag} ${text}: a number up to ${max}`, EXIT.usage);
}
