// Source: gamedata, sections 2.12 and 6.1: game data behind the rate limiter.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess, WITH_SAMPLE_DATA } from '../../harness/index.js';
import { EDITOR_TOKEN as TOKEN } from './shared-nodes.js';

it('guesses of editor tokens are slowed down, readable for pages; a valid token never is', async () => {
  // Own server: its guesses lock this client out for ten minutes.
  const origin = 'https://edit.example';
  await using guarded = await ServerInProcess.start({
    flags: ['--services', 'gamedata,ratelimit', '--gamedata-editor-origins', origin],
    env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
  const guess = (path: string, token: string) =>
    guarded.http.send(path, { headers: { authorization: `Bearer ${token}`, origin } });
  const statuses = new Set<number>();
  for (let count = 0; count < 70; count += 1) {
    const response = await guess('/api/editor/items', `no-${count}`);
    statuses.add(response.status);
    assert.equal(response.headers['access-control-allow-origin'], origin);
    assert.equal(response.headers['cache-control'], 'no-store');
    if (count % 20 !== 19) continue;
    const right = await guess('/api/editor/items', TOKEN);
    assert.equal(right.status, 200, `after ${count + 1} guesses: ${right.text}`);
  }
  // Unauthorized, then ten guesses per minute, then fifty within ten minutes.
  assert.deepEqual([...statuses], [401, 429, 403]);
  assert.equal(
    (await guess('/api/items', 'none-either')).status,
    200,
    'public reads ignore credentials',
  );
});

it('the resource of the limiter is in the headers, and scripts may read them', async () => {
  // Own server: these low limits would affect the other test.
  const limit = { limit: 5, anonymous_limit: 3, window: 60 };
  await using limited = await ServerInProcess.start({
    flags: [
      ...['--services', 'gamedata,ratelimit'],
      ...['--rate-limit-services', JSON.stringify({ gamedata: { enabled: true } })],
      ...['--rate-limit-resources', JSON.stringify({ gamedata: limit })],
    ],
    env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
  const first = await limited.http.send('/api/maps', {
    headers: { origin: 'https://fan.example' },
  });
  assert.equal(first.headers['x-ratelimit-resource'], 'gamedata');
  assert.equal(first.headers['x-ratelimit-remaining'], '2');
  await limited.http.send('/api/maps/nobody');
  await limited.http.send('/api/maps?limit=x');
  const refused = await limited.http.send('/api/maps');
  assert.equal(refused.status, 429);
  assert.equal(refused.headers['x-ratelimit-remaining'], '0');
  const waitSec = Number(refused.headers['retry-after']);
  assert.ok(waitSec >= 1 && waitSec <= 60, String(waitSec));
  const body = JSON.parse(refused.text) as Record<string, unknown>;
  assert.equal(Object.keys(body)[0], 'error');
  assert.equal(body['error'], body['message']);
  assert.equal(body['code'], 'rate_limited');
  for (const { headers } of [first, refused]) {
    assert.equal(headers['access-control-allow-origin'], '*');
    const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(', ');
    for (const name of ['limit', 'remaining', 'used', 'reset', 'resource']) {
      assert.ok(exposed.includes(`x-ratelimit-${name}`), name);
    }
    assert.ok(exposed.includes('retry-after'));
  }
  // Reads of anonymous clients do not count for editors at the same address.
  const edited = await limited.http.send('/api/editor/versions', {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  assert.equal(edited.status, 200, edited.text);
  assert.equal(edited.headers['x-ratelimit-remaining'], '4');
  const guessed = await limited.http.send('/api/editor/versions', {
    headers: { authorization: 'Bearer wrong' },
  });
  assert.notEqual(guessed.status, 200);
});
