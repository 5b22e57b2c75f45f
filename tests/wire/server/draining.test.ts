// Source: docs/SETTINGS.md, `server.drain_ms`.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, ServerInProcess } from '../../harness/index.js';

/** On a busy machine, readiness checks take longer than `LOOK_MS`. */
const DRAIN_MS = 3000;
const LOOK_MS = 100;
const PER_SEC = 100;

async function startNode(context: TestContext): Promise<ServerInProcess> {
  const server = await ServerInProcess.start({
    flags: ['--without-auth', '--services=gamedata', '--server-drain-ms', String(DRAIN_MS)],
  });
  context.after(() => server.close());
  return server;
}

/** A server behind a load balancer: readiness checks over kept connections. */
class Backend {
  readonly server: ServerInProcess;
  readonly agent = new Agent({ keepAlive: true });
  isReady = true;

  constructor(server: ServerInProcess) {
    this.server = server;
  }

  async send(path: string): Promise<number> {
    return await new Promise((resolve, reject) => {
      const sent = request(`${this.server.url}${path}`, { agent: this.agent }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  }
}

it('a rolling restart behind a load balancer fails no request', {
  timeout: 120_000,
}, async (context) => {
  let backends = [new Backend(await startNode(context)), new Backend(await startNode(context))];
  let isOver = false;
  const watching = (async () => {
    for (; !isOver; await sleep(LOOK_MS)) {
      for (const backend of backends) {
        backend.isReady = (await backend.send('/ready').catch(() => 503)) === 200;
      }
    }
  })();
  const outcomes = new Map<string, number>();
  const note = (outcome: unknown): void => {
    const name = String(outcome);
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  };
  const sending: Promise<void>[] = [];
  let turn = 0;
  const flood = (async () => {
    for (; !isOver; await sleep(1000 / PER_SEC)) {
      const ready = backends.filter(({ isReady }) => isReady);
      const backend = ready[turn++ % ready.length];
      sending.push(
        backend === undefined
          ? Promise.resolve(note('nobody is ready'))
          : backend.send('/api/items?limit=1').then(note, note),
      );
    }
  })();
  for (let restarts = 0; restarts < 4; restarts += 1) {
    await sleep(500);
    const [oldest = assert.fail(), ...others] = backends;
    await oldest.server.stop();
    backends = [...others, new Backend(await startNode(context))];
  }
  isOver = true;
  await Promise.all([watching, flood]);
  await Promise.all(sending);
  for (const { agent } of backends) agent.destroy();
  assert.deepEqual([...outcomes.keys()], ['200'], JSON.stringify([...outcomes]));
  assert.ok((outcomes.get('200') ?? 0) > 300);
});

it('reports not ready while it still accepts one last request per connection', async (context) => {
  const server = await startNode(context);
  const kept = await RawConnection.open(server.url);
  const ask = 'GET /api/items?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n';
  kept.send(ask);
  assert.match(await kept.until(/\r\n\r\n/), /^HTTP\/1\.1 200 [\s\S]*connection: keep-alive/i);
  const stopping = server.stop();
  while ((await server.http.send('/ready')).status === 200) await sleep(10);
  const { status, headers } = await server.http.send('/api/items?limit=1');
  assert.deepEqual([status, headers['connection']], [200, 'close']);
  kept.send(ask);
  assert.match(await kept.until(/connection: close/i), /HTTP\/1\.1 200 /);
  assert.equal(await stopping, 0);
});
