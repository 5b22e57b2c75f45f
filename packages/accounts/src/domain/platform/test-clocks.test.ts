// Source: accounts, section 18.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AnyJson, testAccounts } from '../../testing/test-accounts.js';

const server = testAccounts();

const ACCOUNTS = '/v2/core/accounts';
const CLOCKS = '/v1/test_helpers/test_clocks';

describe('test clocks', () => {
  it('are created and advanced, accept three accounts, and do not exist in live mode', async () => {
    const frozen_time = 1_800_000_000;
    const clock = await server.ok(CLOCKS, { body: { frozen_time, name: 'Monthly' } });
    assert.match(clock.id, /^clock_/);
    assert.equal(clock.object, 'test_helpers.test_clock');
    assert.equal(clock.status, 'ready');
    assert.equal(clock.deletes_after, clock.created + 30 * 86_400);
    const configuration = { customer: { test_clock: clock.id } };
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push((await server.create({ configuration })).id);
    const full = { code: 'test_clocks_customer_limit_reached' };
    await server.refused(ACCOUNTS, { body: { configuration } }, full);
    await server.ok(`${ACCOUNTS}/${ids[0]}/close`, { body: {} });
    await server.create({ configuration });
    const unknown = { configuration: { customer: { test_clock: 'clock_unknown' } } };
    await server.refused(ACCOUNTS, { body: unknown }, { code: 'test_clock_invalid' });
    const live = { key: 'sk_live' as const, body: { configuration } };
    await server.refused(ACCOUNTS, live, { code: 'test_clock_disallowed_on_live_mode' });
    const advanced = await server.ok(`${CLOCKS}/${clock.id}/advance`, {
      body: { frozen_time: frozen_time + 3600 },
    });
    assert.equal(advanced.status, 'advancing');
    const during = { code: 'test_clocks_advance_in_progress' };
    await server.refused(ACCOUNTS, { body: { configuration } }, during);
    await server.clock.advanceMs(2000);
    assert.equal((await server.ok(`${CLOCKS}/${clock.id}`)).status, 'ready');
    const listed = await server.ok(CLOCKS);
    assert.deepEqual(
      listed.data.map(({ id }: AnyJson) => id),
      [clock.id],
    );
    await server.ok(`${CLOCKS}/${clock.id}`, { method: 'DELETE' });
    assert.equal((await server.ok(`${ACCOUNTS}/${ids[1]}`)).closed, true);
    await server.refused(`${CLOCKS}/${clock.id}`, {}, { status: 404, code: 'not_found' });
  });
});
