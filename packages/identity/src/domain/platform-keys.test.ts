import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTestIdentity } from '../testing/open-test-identity.js';

const TEXT = 'sk_test_0123456789abcdefghijABCD';

describe('PlatformKeys', () => {
  it('finds a key by its text after restarts and never returns the text again', async () => {
    const first = await openTestIdentity();
    const keys = first.identity.platformKeys;
    const [issued] = await keys.create([
      { platform: 'plat_a', kind: 'publishable', livemode: true },
    ]);
    assert.match(issued?.text ?? '', /^pk_live_[0-9A-Za-z]{40}$/);
    await keys.adopt([{ platform: 'plat_a', text: TEXT }]);
    const restarted = await first.restart();
    await using _ = restarted;
    const found = restarted.identity.platformKeys.find(issued?.text ?? '');
    assert.deepEqual(found, { status: 'valid', key: issued?.key });
    const adopted = restarted.identity.platformKeys.find(TEXT);
    assert.equal(adopted.status === 'valid' && adopted.key.kind, 'secret');
    assert.equal(adopted.status === 'valid' && adopted.key.livemode, false);
    const listed = JSON.stringify(restarted.identity.platformKeys.list('plat_a'));
    assert.doesNotMatch(listed, new RegExp(`${issued?.text}|${TEXT}`));
    assert.doesNotMatch(restarted.logged.join(''), new RegExp(`${issued?.text}|${TEXT}`));
  });

  it('rejects a key after it expires or is revoked; unknown keys are not found', async () => {
    await using test = await openTestIdentity();
    const keys = test.identity.platformKeys;
    const expiresMs = test.clock.nowMs() + 1000;
    const [one, two] = await keys.create([
      { platform: 'plat_a', kind: 'secret', livemode: false, expiresMs },
      { platform: 'plat_a', kind: 'secret', livemode: false },
    ]);
    const status = (text = '') => keys.find(text).status;
    assert.equal(status(one?.text), 'valid');
    await test.clock.advanceMs(1000);
    assert.equal(status(one?.text), 'ended');
    assert.equal(await keys.revoke('plat_b', two?.key.id ?? ''), false);
    assert.equal(status(two?.text), 'valid');
    assert.equal(await keys.revoke('plat_a', two?.key.id ?? ''), true);
    assert.equal(status(two?.text), 'ended');
    assert.equal(status('sk_test_short'), 'unknown');
    assert.equal(status(TEXT), 'unknown');
  });

  it('keeps a key revoked after a restart', async () => {
    const first = await openTestIdentity();
    const keys = first.identity.platformKeys;
    const [issued] = await keys.create([{ platform: 'plat_a', kind: 'secret', livemode: false }]);
    await keys.revoke('plat_a', issued?.key.id ?? '');
    await using restarted = await first.restart();
    assert.equal(restarted.identity.platformKeys.find(issued?.text ?? '').status, 'ended');
  });

  it('keeps the first revocation time and deletes the keys of a deleted platform', async () => {
    await using test = await openTestIdentity();
    const keys = test.identity.platformKeys;
    const [issued] = await keys.create([{ platform: 'plat_a', kind: 'secret', livemode: false }]);
    const revokedMs = test.clock.nowMs();
    assert.equal(await keys.revoke('plat_a', issued?.key.id ?? ''), true);
    await test.clock.advanceMs(1000);
    assert.equal(await keys.revoke('plat_a', issued?.key.id ?? ''), true);
    assert.equal(keys.list('plat_a')[0]?.revokedMs, revokedMs);
    await keys.adopt([{ platform: 'plat_a', text: TEXT }]);
    await keys.deletePlatform('plat_a');
    assert.equal(keys.find(TEXT).status, 'unknown');
    assert.deepEqual(keys.list('plat_a'), []);
  });

  it('loads revocations made by another node', async () => {
    await using test = await openTestIdentity();
    const keys = test.identity.platformKeys;
    const { keys: other } = await test.openOther(60);
    await keys.adopt([{ platform: 'plat_a', text: TEXT }]);
    await other.load();
    assert.equal(other.find(TEXT).status, 'valid');
    await test.clock.advanceMs(60_001);
    assert.throws(() => other.find(TEXT), { kind: 'credential_uncheckable' });
    assert.equal(other.find('sk_test_short').status, 'unknown');
    await keys.deletePlatform('plat_a');
    await other.load();
    assert.equal(other.find(TEXT).status, 'unknown');
    assert.deepEqual(other.list('plat_a'), []);
  });

  it('adopts a given text once, for one platform', async () => {
    await using test = await openTestIdentity();
    const keys = test.identity.platformKeys;
    await keys.adopt([{ platform: 'plat_a', text: TEXT }]);
    await keys.adopt([{ platform: 'plat_a', text: TEXT }]);
    assert.equal(keys.list('plat_a').length, 1);
    await assert.rejects(keys.adopt([{ platform: 'plat_b', text: TEXT }]), {
      kind: 'platform_key_exists',
    });
    await assert.rejects(keys.adopt([{ platform: 'plat_b', text: 'sk_test_1' }]), {
      kind: 'platform_key_malformed',
    });
  });
});
