// Source: accounts, section 17.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Stripe from 'stripe';
import { AccountsServer, EventReceiver, type Json, KEYS } from '../../harness/index.js';

/** Separate server with events delivered on this machine. */
let server: AccountsServer;
let receiver: EventReceiver;
before(async () => {
  receiver = await EventReceiver.start();
  server = await AccountsServer.start({
    flags: ['--accounts-allow-private-targets', '127.0.0.0/8'],
  });
});
after(async () => {
  await server.close();
  await receiver.close();
});

describe('event destinations', () => {
  it('are created, listed, changed, pinged and deleted by the official client', async () => {
    const { hostname, port } = new URL(server.process.url);
    const stripe = new Stripe(KEYS.sk_test, { host: hostname, port, protocol: 'http' });
    const { eventDestinations } = stripe.v2.core;
    const made: Json = await eventDestinations.create({
      name: 'Main',
      description: 'all of them',
      type: 'webhook_endpoint',
      event_payload: 'thin',
      enabled_events: ['v2.core.account.created'],
      webhook_endpoint: { url: receiver.url },
      include: ['webhook_endpoint.signing_secret', 'webhook_endpoint.url'],
    });
    assert.match(made.id, /^ed_test_[0-9A-Za-z]{24}$/);
    const secret: string = made.webhook_endpoint.signing_secret;
    assert.match(secret, /^whsec_[0-9A-Za-z]{32}$/);
    assert.equal(made.status, 'enabled');

    const account = await server.create({ display_name: 'Delivered' });
    const got = await receiver.event(({ related_object: { id } }) => id === account.id);
    assert.equal(got.headers['content-type'], 'application/json');
    assert.equal(got.headers['user-agent'], 'Api/1.0');
    assert.equal(got.headers['api-signature'], got.headers['stripe-signature']);
    const signature = String(got.headers['stripe-signature']);
    const thin: Json = stripe.parseEventNotification(got.body, signature, secret);
    assert.equal(thin.type, 'v2.core.account.created');
    assert.deepEqual(Object.keys(JSON.parse(got.body)), [
      'id',
      'object',
      'type',
      'created',
      'livemode',
      'context',
      'reason',
      'related_object',
    ]);
    assert.throws(() => stripe.parseEventNotification(`${got.body} `, signature, secret));
    const full: Json = await stripe.v2.core.events.retrieve(thin.id);
    assert.equal(full.related_object.id, account.id);

    const ping: Json = await eventDestinations.ping(made.id);
    assert.equal(ping.type, 'v2.core.event_destination.ping');
    await receiver.event(({ id }) => id === ping.id);

    const changed: Json = await eventDestinations.update(made.id, { name: 'Renamed' });
    assert.equal(changed.name, 'Renamed');
    assert.equal(changed.webhook_endpoint, undefined);
    const off: Json = await eventDestinations.disable(made.id);
    assert.equal(off.status, 'disabled');
    assert.deepEqual(off.status_details, { disabled: { reason: 'user' } });
    await server.create({ display_name: 'Not delivered' });
    assert.equal(((await eventDestinations.enable(made.id)) as Json).status, 'enabled');
    const listed: Json = await eventDestinations.list();
    assert.deepEqual(
      listed.data.map(({ id }: Json) => id),
      [made.id],
    );
    const read: Json = await eventDestinations.retrieve(made.id, {
      include: ['webhook_endpoint.url'],
    });
    assert.deepEqual({ ...read.webhook_endpoint }, { url: receiver.url });
    const gone: Json = await eventDestinations.del(made.id);
    assert.deepEqual(
      { id: gone.id, object: gone.object },
      { id: made.id, object: 'v2.core.event_destination' },
    );
    await server.refused(
      `/v2/core/event_destinations/${made.id}`,
      {},
      { status: 404, code: 'not_found' },
    );
    const names = receiver.received.map(({ body }) => JSON.parse(body).related_object.id);
    assert.equal(names.filter((id) => id === account.id).length, 1);
  });

  it('delivers to other receivers while one is unresponsive', async () => {
    await using silent = await EventReceiver.start();
    silent.isSilent = true;
    await using lively = await EventReceiver.start();
    const made: string[] = [];
    for (const { url } of [silent, lively]) {
      const body = {
        name: 'EventLoopYielder',
        type: 'webhook_endpoint',
        event_payload: 'thin',
        enabled_events: ['v2.core.account.created'],
        webhook_endpoint: { url },
      };
      made.push((await server.ok('/v2/core/event_destinations', { body })).id);
    }
    // Above the concurrency limit for one receiver. More would take longer than an attempt, whose end frees a slot.
    for (let index = 0; index < 20; index++) {
      const { id } = await server.create({});
      await lively.event(({ related_object }) => related_object.id === id);
    }
    assert.equal(silent.received.length, 16, 'the others wait for their turn');
    for (const id of made) {
      await server.ok(`/v2/core/event_destinations/${id}`, { method: 'DELETE' });
    }
  });
});
