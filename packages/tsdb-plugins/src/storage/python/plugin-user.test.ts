// Source: processing-engine, "Security"; passwd(5).
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findPluginUser, parseUser } from './plugin-user.js';

const PASSWD = `root:x:0:0:root:/root:/bin/bash
plugins:x:998:997::/var/lib/plugins:/usr/sbin/nologin
broken:x:no:1::/:
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`;

it('finds a user by name and by number, and accepts a number without a user', () => {
  const plugins = { uid: 998, gid: 997, home: '/var/lib/plugins' };
  assert.deepEqual(parseUser('plugins', PASSWD), { name: 'plugins', ...plugins });
  assert.deepEqual(parseUser('998', PASSWD), { name: '998', ...plugins });
  assert.deepEqual(parseUser('4242', PASSWD), { name: '4242', uid: 4242, gid: 4242, home: '/' });
  for (const name of ['plugin', 'broken']) {
    assert.equal(parseUser(name, PASSWD), undefined, name);
  }
});

it('is undefined if the server runs as that user, and unavailable if only root could switch to it', async () => {
  assert.deepEqual(await findPluginUser(undefined, 0), { kind: 'found', user: undefined });
  assert.deepEqual(await findPluginUser('4242', 4242), { kind: 'found', user: undefined });
  const other = await findPluginUser('4242', 1000);
  assert.equal(other.kind, 'unavailable');
  assert.match(other.kind === 'unavailable' ? other.why : '', /runs as user 1000, and only root/);
  const nowhere = await findPluginUser('no-such-user-here', 0);
  assert.match(
    nowhere.kind === 'unavailable' ? nowhere.why : '',
    /user no-such-user-here is not in \/etc\/passwd/,
  );
});
