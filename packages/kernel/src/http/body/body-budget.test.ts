// Source: docs/adr/0105-request-body-limits.md.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../testing/index.js';
import { BodyBudget, type BodyReservation } from './body-budget.js';

const MB = 1_000_000;
const ADMIN = { kind: 'admin', tokenId: 0, tokenName: '_admin' } as const;
const tenant = (platform: string) =>
  ({ kind: 'platform_key', platform, keyKind: 'secret', livemode: true }) as const;

function begin(limitBytes = MB) {
  const clock = new ManualClock();
  const bodies = new BodyBudget(clock, limitBytes);
  const expect = (): { readonly body: BodyReservation; readonly ends: string[] } => {
    const body = bodies.begin(ADMIN);
    const ends: string[] = [];
    body.awaitRest((error) => ends.push(String(Reflect.get(error, 'kind'))));
    return { body, ends };
  };
  return { clock, bodies, expect };
}

describe('incoming bodies', () => {
  it('end after 20 s without data, however much had arrived', async () => {
    const { clock, expect } = begin();
    const { body, ends } = expect();
    assert.ok(body.noteReceived(999_999));
    await clock.advanceMs(20_000);
    assert.deepEqual(ends, []);
    await clock.advanceMs(19_999);
    assert.deepEqual(ends, []);
    await clock.advanceMs(1);
    assert.deepEqual(ends, ['body_too_slow']);
    await clock.advanceMs(60_000);
    assert.equal(ends.length, 1);
  });

  it('end when fewer than 20 kB arrive in a span', async () => {
    for (const [perSecond, isTooSlow] of [
      [999, true],
      [1000, false],
    ] as const) {
      const { clock, expect } = begin();
      const { body, ends } = expect();
      for (let sec = 0; sec < 200; sec += 1) {
        body.noteReceived(perSecond);
        await clock.advanceMs(1000);
      }
      assert.equal(ends.length > 0, isTooSlow, `${perSecond} bytes a second`);
    }
  });

  it('tolerate pauses of 15 s', async () => {
    const { clock, expect } = begin();
    const { body, ends } = expect();
    for (let round = 0; round < 14; round += 1) {
      body.noteReceived(20_000);
      await clock.advanceMs(15_000);
    }
    body.ended();
    assert.deepEqual(ends, []);
  });

  it('must be complete after 300 s', async () => {
    const { clock, expect } = begin(1000 * MB);
    const { body, ends } = expect();
    for (let sec = 0; sec < 300; sec += 1) {
      assert.deepEqual(ends, [], `${sec} s`);
      body.noteReceived(100_000);
      await clock.advanceMs(1000);
    }
    assert.deepEqual(ends, ['body_too_slow']);
  });

  it('are not checked after they have ended', async () => {
    const { clock, expect } = begin();
    const { body, ends } = expect();
    body.noteReceived(5);
    body.ended();
    await clock.advanceMs(400_000);
    assert.deepEqual(ends, []);
  });

  it('are not checked when their request was answered without them', async () => {
    const { clock, expect } = begin();
    const { body, ends } = expect();
    body.release();
    await clock.advanceMs(400_000);
    assert.deepEqual(ends, []);
  });

  it('are not checked after the server has closed', async () => {
    const { clock, bodies, expect } = begin();
    const { ends } = expect();
    bodies[Symbol.dispose]();
    await clock.advanceMs(400_000);
    assert.deepEqual(ends, []);
  });
});

describe('bodies in memory', () => {
  it('share a total limit, and release their part', () => {
    const { bodies } = begin(100);
    const [one, other] = [bodies.begin(ADMIN), bodies.begin(ADMIN)];
    assert.ok(one.noteReceived(60));
    assert.ok(other.noteReceived(40));
    assert.equal(other.noteReceived(1), false);
    assert.equal(other.add(1), false);
    assert.equal(bodies.sizeBytes, 100);
    one.release();
    assert.equal(bodies.sizeBytes, 40);
    one.release();
    assert.equal(bodies.sizeBytes, 40);
    assert.ok(other.add(60));
    assert.equal(other.add(1), false);
    other.release();
    assert.equal(bodies.sizeBytes, 0);
  });

  it('use at most half of the budget per tenant, and three quarters for all tenants', () => {
    const { bodies } = begin();
    const one = bodies.begin(tenant('one'));
    assert.equal(one.noteReceived(MB / 2), true);
    assert.equal(bodies.begin(tenant('one')).noteReceived(1), false);
    const two = bodies.begin(tenant('two'));
    assert.equal(two.noteReceived(MB / 4), true);
    assert.equal(two.noteReceived(1), false);
    const operator = bodies.begin(ADMIN);
    assert.equal(operator.noteReceived(MB / 4), true);
    assert.equal(operator.noteReceived(1), false);
    one.release();
    assert.equal(bodies.begin(tenant('one')).noteReceived(MB / 2), true);
    assert.equal(bodies.sizeBytes, MB);
  });
});
