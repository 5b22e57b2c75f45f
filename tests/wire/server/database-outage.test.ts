// Source: docs/REQUEST-LIFECYCLE.md, "Health": the services keep running while their database is unavailable.
// Own process: one server has to survive unhandled errors.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  assertError,
  KEYS,
  layDatabaseCable,
  makeJwt,
  nowSec,
  POSTGRES_URL,
  ServerInProcess,
  WebhookApp,
  WITH_SAMPLE_DATA,
} from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts';
/** Longer than the interval of the background jobs, which is one second. */
const OUTAGE_MS = 2000;

it('a PostgreSQL outage fails only requests that need it', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async (context) => {
  const { cable, url, databaseFlag } = await layDatabaseCable(context);
  const server = await AccountsServer.startProcess({
    flags: [databaseFlag, '--services=tsdb,accounts,webhooks,ratelimit,gamedata'],
  });
  context.after(() => server.close());
  const first = await server.send(ACCOUNTS, { body: { display_name: 'before' } });
  assert.equal(first.status, 200);
  // The lazily opened state exists by then.
  assert.equal((await server.process.http.send('/api/items?limit=1')).status, 200);

  cable.cut();
  const idempotencyKey = 'kept over the outage';
  const again = { body: { display_name: 'after' }, idempotencyKey };
  const refused = await server.refused(ACCOUNTS, again, {
    ...{ status: 503, code: 'service_overloaded' },
  });
  assert.match(refused['message'], /retry with the same idempotency key/);
  await sleep(OUTAGE_MS);
  assert.ok(server.process.isRunning, server.process.logText);
  assert.equal((await server.process.http.send('/api/items?limit=1')).status, 200);
  const why = 'not ready: storage cannot be reached';
  assertError(await server.process.http.send('/health'), 503, why);
  assertError(await server.process.http.send('/ready'), 503, why);
  // The driver attaches its client, with the database password, to its errors.
  assert.ok(!server.process.logText.includes(url.password), 'the password is in the log');
  assert.ok(!server.process.logText.includes('connectionParameters'), 'the driver is in the log');

  await cable.join();
  await sleep(1500);
  const second = await server.send(ACCOUNTS, again);
  assert.equal(second.status, 200, second.text);
  assert.equal((await server.process.http.send('/health')).text, 'OK');
  const found = await server.send(`${ACCOUNTS}/${JSON.parse(first.text).id}`, {
    key: KEYS.sk_test,
  });
  assert.equal(found.status, 200);
});

it('credentials that cannot be checked during a PostgreSQL outage do not count as wrong', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async (context) => {
  const { cable, databaseFlag } = await layDatabaseCable(context);
  const server = await ServerInProcess.start({
    flags: [databaseFlag, '--without-auth', '--rate-limit-ban-threshold', '20'],
  });
  context.after(() => server.close());
  const ops = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const made = await server.http.send(`/ops/v1/${path}`, { headers, body: JSON.stringify(body) });
    assert.equal(made.status, 201, made.text);
    return JSON.parse(made.text);
  };
  await ops('identities', { kind: 'user', id: 1 });
  const { token } = await ops('credentials', { kind: 'personal', identity: 'user:1' });
  const app = await WebhookApp.register(server, undefined);
  const jwt = () => makeJwt(app.pem, { iss: app.clientId, iat: nowSec() - 5, exp: nowSec() + 60 });
  const ask = (path: string, text?: string) =>
    server.http.send(
      path,
      text === undefined ? {} : { headers: { authorization: `Bearer ${text}` } },
    );
  const usedByAddress = async () =>
    JSON.parse((await ask('/rate_limit')).text).resources.core.used as number;
  assert.equal((await ask('/app', jwt())).status, 200);
  const before = await usedByAddress();

  cable.cut();
  // Recent lookups are cached for half a minute; these credentials are new.
  for (let index = 0; index < 120; index += 1) {
    const isApp = index % 2 === 0;
    const response = isApp ? await ask('/app', `${jwt()}`) : await ask('/rate_limit', token);
    if (isApp && response.status === 200) continue; // The app is still cached.
    assert.equal(response.status, 503, response.text);
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal(response.headers['x-ratelimit-used'], undefined, 'nothing is counted');
  }
  const asked = await server.http.send('/ops/v1/rate-limits/check', {
    body: JSON.stringify({ authorization: `Bearer ${token}`, resource: 'core' }),
  });
  assert.equal(asked.status, 503, asked.text);
  assert.match(String(asked.headers['retry-after']), /^[1-9]\d*$/);

  await cable.join();
  await sleep(1500);
  assert.equal(await usedByAddress(), before);
  assert.equal((await ask('/rate_limit', token)).status, 200);
  assert.equal((await ask('/app', jwt())).status, 200);
  // A wrong credential is reported as wrong, not as too many attempts.
  assert.equal((await ask('/rate_limit', 'nonsense')).status, 401);
});

it('game data recovers if PostgreSQL fails while it is being opened', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async (context) => {
  for (const breakingPoint of ['from "gamedata_versions"', 'insert into "gamedata_versions"']) {
    const { cable, databaseFlag } = await layDatabaseCable(context);
    cable.breakingPoint = breakingPoint;
    const server = await AccountsServer.start({
      flags: [databaseFlag, '--services=accounts,gamedata'],
      env: WITH_SAMPLE_DATA,
    });
    context.after(() => server.close());
    const read = () => server.process.http.send('/api/items?limit=1');

    for (const path of ['/api/items?limit=1', '/api/items/0', '/api/bulk/latest/items.ndjson']) {
      const refused = await server.process.http.send(path);
      assert.equal(refused.status, 503, `${breakingPoint} ${path}`);
      assert.equal(JSON.parse(refused.text).code, 'unavailable');
      assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
      assert.equal(refused.headers['cache-control'], 'no-store');
    }
    assert.equal(cable.breakingPoint, undefined, 'game data was opened some other way');

    await cable.join();
    let found = await read();
    for (let turn = 0; turn < 300 && found.status === 503; turn++) {
      await sleep(100);
      found = await read();
    }
    assert.equal(found.status, 200, found.text);
    assert.ok(JSON.parse(found.text).total > 0);
  }
});
