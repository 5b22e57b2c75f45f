import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, Metrics, type Principal, type RequestGate } from '@plinth/kernel';
import { createHttpApp } from './http-app.js';
import { HttpMetrics } from './http-metrics.js';

const ADMIN: Principal = { kind: 'admin', tokenId: 0, tokenName: '_admin' };

async function appWith(gate?: RequestGate) {
  const lines: string[] = [];
  const metrics = new Metrics();
  const app = await createHttpApp({
    log: createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } }),
    services: [
      {
        name: 'echo',
        async register(scope) {
          scope.get('/who', (request, reply) => reply.send(request.principal));
          scope.get('/broken', () => {
            throw new Error('a detail that is nobody else’s business');
          });
          scope.post('/body', (request, reply) => reply.send({ got: request.body }));
        },
        async start() {},
        async close() {},
      },
    ],
    clusterUuid: () => 'c1',
    authenticate: () => ADMIN,
    gate,
    metrics: new HttpMetrics(metrics),
    isDraining: () => false,
  });
  return { app, lines, metrics };
}

describe('createHttpApp', () => {
  it('hands the principal to the route', async () => {
    const { app } = await appWith();
    assert.deepEqual((await app.inject('/who')).json(), ADMIN);
  });

  it('answers a bug with a bare 500 and logs it', async () => {
    const { app, lines } = await appWith();
    const response = await app.inject('/broken');
    assert.equal(response.statusCode, 500);
    assert.equal(response.body, '{"error":"internal error","data":{}}');
    assert.ok(lines.some((line) => line.includes('nobody else') && line.includes('"error"')));
  });

  it('logs requests at debug without the credentials in their URLs', async () => {
    const { app, lines } = await appWith();
    await app.inject('/who?p=hunter22&db=a');
    const line = lines.find((candidate) => candidate.includes('"msg":"request"')) ?? '{}';
    assert.equal(JSON.parse(line).url, '/who?p=[redacted]&db=a');
  });

  it('refuses a body above the limit with 413', async () => {
    const { app } = await appWith();
    const response = await app.inject({
      method: 'POST',
      url: '/body',
      headers: { 'content-type': 'application/json' },
      payload: Buffer.alloc(1_048_577, ' '),
    });
    assert.equal(response.statusCode, 413);
    assert.equal(response.headers['cluster-uuid'], 'c1');
  });

  it('lets the gate see who asks, refuse, and hear of the end of every request', async () => {
    const seen: string[] = [];
    const { app } = await appWith({
      async admit(request, reply, principal) {
        seen.push(`admit ${request.url} ${principal.kind}`);
        if (request.url !== '/broken') return true;
        reply.code(429).send('slow down');
        return false;
      },
      finish(request, reply) {
        seen.push(`finish ${request.url} ${reply.statusCode}`);
      },
    });
    assert.equal((await app.inject('/broken')).statusCode, 429);
    assert.equal((await app.inject('/who')).statusCode, 200);
    assert.deepEqual(seen, [
      'admit /broken admin',
      'finish /broken 429',
      'admit /who admin',
      'finish /who 200',
    ]);
  });
});
