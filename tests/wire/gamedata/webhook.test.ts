// Source: gamedata, section 5.
// Own process: one is killed.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type OwnServer,
  ServerInProcess,
  ServerProcess,
  until,
  WebhookApp,
  WebhookReceiver,
  WITH_SAMPLE_DATA,
} from '../../harness/index.js';
import { done, EDITOR_TOKEN } from './shared-nodes.js';

it('the webhook receives each publication once, also after a kill, and no draft', async () => {
  await using receiver = await WebhookReceiver.start();
  const options = {
    flags: [
      ...['--services', 'gamedata,webhooks', '--without-auth'],
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
    env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR_TOKEN },
  };
  // Own servers: one is killed, and both need the webhooks service.
  const first = await ServerProcess.start(options);
  await WebhookApp.register(first, { url: receiver.url, events: ['game_data'] });
  const publish = async (to: OwnServer, path: string, body?: object): Promise<number> =>
    Number((await done(to, 'POST', path, body)).json['version']);
  await done(first, 'POST', 'items', { id: 'told', name: 'Told' });
  const version = await publish(first, 'save', { message: 'for the hook' });
  assert.equal(await publish(first, 'save'), version, 'nothing has changed');
  // An acknowledged publication is delivered even if the process dies first.
  await first.kill();
  const second = await ServerInProcess.start({ ...options, dataDir: first.dataDir });
  try {
    const restored = await publish(second, 'versions/1/restore');
    const payloads = () =>
      receiver.deliveries
        .filter(({ headers }) => headers['x-vendor-event'] === 'game_data')
        .map(({ body }) => JSON.parse(body));
    const isDelivered = (number: number) =>
      payloads().some((payload) => payload.version.number === number);
    const areDelivered = async () => isDelivered(version) && isDelivered(restored);
    await until(areDelivered, 'both versions are delivered');
    const byVersion = new Map(payloads().map((payload) => [payload.version.number, payload]));
    // The sample data set is delivered as well if it was published after the registration.
    const numbers = [...byVersion.keys()].filter((number) => number > 1);
    assert.deepEqual(numbers.sort(), [version, restored]);
    const published = byVersion.get(version);
    assert.equal(published.action, 'published');
    assert.equal(published.service, 'game-data');
    assert.deepEqual(
      [published.version.previous, published.version.message, published.version.counts.items],
      [version - 1, 'for the hook', 421],
    );
    assert.match(published.version.publishedAt, /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(published.changes, {
      total: 1,
      truncated: false,
      records: [{ kind: 'items', id: 'told', op: 'created' }],
    });
    assert.equal(byVersion.get(restored).action, 'restored');
  } finally {
    await second.close();
    await first.close();
  }
});
