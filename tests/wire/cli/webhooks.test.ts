// Source: webhooks, section 10 (command line).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, it } from 'node:test';
import { CLI, runCli } from '../../harness/cli.js';
import { ServerInProcess, temporaryFolder, WebhookReceiver } from '../../harness/index.js';

let server: ServerInProcess;
let folder: string;
before(async () => {
  folder = await temporaryFolder();
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
  });
});
after(() => server.close());

const run = async (args: readonly string[], input?: string) => {
  const done = await runCli([...args, '--host', server.url], {
    ...(input !== undefined && { input }),
  });
  assert.equal(done.code, 0, done.stderr);
  return done.stdout;
};

it('registers an app, publishes, receives, lists, shows and redelivers', async () => {
  const listen = ['webhook', 'listen', '--port', '0', '--secret', 'dev', '--format', 'json'];
  const receiver = spawn(process.execPath, [CLI, ...listen], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const lines: Record<string, unknown>[] = [];
    createInterface({ input: receiver.stdout }).on('line', (line) =>
      lines.push(JSON.parse(line) as Record<string, unknown>),
    );
    const [announced] = (await once(receiver.stderr, 'data')) as [Buffer];
    const url = /http:\S+/.exec(announced.toString())?.[0] ?? '';
    const until = async (count: number) => {
      while (lines.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const keyFile = join(folder, 'key.pem');
    const made = JSON.parse(
      await run([
        ...['app', 'create', '--name', 'cli', '--webhook-url', url, '--secret', 'dev'],
        ...['--events', 'issues,push.*', '--key-out', keyFile],
      ]),
    ) as { id: number; pem?: string; hook: { events: string[] } };
    assert.equal(made.pem, undefined);
    assert.deepEqual(made.hook.events, ['issues', 'push.*']);
    assert.match(await readFile(keyFile, 'utf8'), /^-----BEGIN PRIVATE KEY-----/);
    assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
    const app = String(made.id);
    await until(1);
    const publish = ['event', 'publish', '--event', 'issues', '--action', 'opened'];
    const published = JSON.parse(
      await run([...publish, '--app', app, '--payload', '-'], '{"n":9007199254740993}'),
    ) as { guid: string };
    await until(2);
    assert.deepEqual(
      lines.map(({ event, verdict }) => [event, verdict]),
      [
        ['ping', 'valid signature'],
        ['issues', 'valid signature'],
      ],
    );
    assert.equal(lines[1]?.['payload'], '{"action":"opened","n":9007199254740993}');
    let listed = '';
    while (!listed.includes(published.guid)) {
      listed = await run(['deliveries', 'list', '--app', app, '--event', 'issues']);
    }
    assert.match(
      listed,
      /^id +delivered_at +event +action +status_code +status +redelivery +guid\n/,
    );
    const id = /^(\d+) /m.exec(listed)?.[1] ?? '';
    const shown = JSON.parse(await run(['deliveries', 'show', id, '--app', app])) as {
      response: { payload: string };
      error: unknown;
    };
    assert.deepEqual([shown.response.payload, shown.error], ['ok', null]);
    await run(['deliveries', 'redeliver', id, '--app', app]);
    await until(3);
    assert.equal(lines[2]?.['guid'], published.guid);
    assert.match(await run(['app', 'list']), /^1 +Iv23\w{16} +cli +on +http/m);
    await run(['app', 'update', app, '--content-type', 'form']);
    assert.match(await run(['app', 'show', app]), /"content_type": "form"/);
    assert.match(
      await run(['deliveries', 'redrive', '--app', app]),
      /^deliveries: 0 found, 0 queued for redelivery$/m,
    );
    const rotated = JSON.parse(await run(['app', 'rotate-secret', app, '--overlap', '1h'])) as {
      secret: string;
    };
    assert.ok(rotated.secret.length >= 32);
    await run(['app', 'delete', app]);
    const gone = await runCli(['app', 'show', app, '--host', server.url]);
    assert.deepEqual([gone.code, gone.stderr], [1, 'plinth: the server returned 404: Not Found\n']);
  } finally {
    receiver.kill();
  }
});

it('registers a temporary app, forwards deliveries and returns the response of the receiver', async () => {
  const application = await WebhookReceiver.start((_, response) =>
    response.writeHead(202).end('taken by the application'),
  );
  const listen = ['webhook', 'listen', '--port', '0', '--format', 'json', '--host', server.url];
  const more = ['--forward-to', application.url, '--events', 'issues,push'];
  const listener = spawn(process.execPath, [CLI, ...listen, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  listener.stderr.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const until = async (words: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = words.exec(said);
      if (found !== null) return found;
      assert.equal(listener.exitCode, null, said);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  try {
    const [, app = '', secret = ''] = await until(/app (\d+) is registered .*its secret: (\S+)\n/);
    await run(['event', 'trigger', 'issues.opened', '--app', app]);
    const [delivery] = await application.until('issues', 1);
    assert.ok(delivery);
    assert.equal(delivery.path, '/hook');
    const expected = createHmac('sha256', secret).update(delivery.body).digest('hex');
    assert.equal(delivery.headers['x-hub-signature-256'], `sha256=${expected}`);
    const { action, issue, sender } = JSON.parse(delivery.body);
    assert.deepEqual([action, issue.number, sender.login], ['opened', 1, 'octo']);
    for (let listed = ''; !/issues +opened +202 /.test(listed); )
      listed = await run(['webhook', 'deliveries', app]);

    await application.close();
    await run(['event', 'trigger', 'push', '--app', app]);
    for (let listed = ''; !/push +- +502 /.test(listed); )
      listed = await run(['webhook', 'deliveries', app]);

    const ended = once(listener, 'exit');
    listener.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
    assert.match(said, new RegExp(`app ${app} removed\\n$`));
    assert.doesNotMatch(await run(['app', 'list']), /listen-/);
  } finally {
    listener.kill('SIGKILL');
  }
});

it('lists the samples for an unknown name', async () => {
  const { code, stderr } = await runCli(['event', 'trigger', 'nonsense', '--host', server.url]);
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are push, create, delete, issues\.opened, /);
});
