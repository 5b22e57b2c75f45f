// Source: docs/SEVERAL-NODES.md, "Requirements for each node".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { POSTGRES_URL, SharedNodes, StartFailed } from '../../harness/index.js';

const SERVICES = ['--without-auth', '--services=accounts,webhooks,ratelimit'];

it('a node with a different vendor name is refused', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async () => {
  await using nodes = await SharedNodes.create({ flags: SERVICES });
  const first = await nodes.start();
  for (const [flag, said] of [
    [
      '--accounts-vendor-word=acme',
      /accounts\.vendor_word is \\?"acme\\?" here and \\?"vendor\\?"/,
    ],
    [
      '--webhooks-vendor-name=Acme',
      /webhooks\.vendor_name is \\?"Acme\\?" here and \\?"Vendor\\?"/,
    ],
    ['--identity-credential-prefix=ac', /identity\.credential_prefix is \\?"ac\\?" here and/],
    ['--rate-limit-redis-prefix=other:', /rate_limit\.redis_prefix is \\?"other:\\?" here and/],
  ] as const) {
    await assert.rejects(nodes.start({ flags: [flag] }), (error) => {
      assert.ok(error instanceof StartFailed);
      assert.match(error.message, said);
      assert.match(
        error.message,
        /use the same value on all nodes, or stop the others before changing it/,
      );
      return true;
    });
  }
  // Settings of services that it does not run may differ, and so may others.
  const services = ['--services=ratelimit', '--accounts-vendor-word=acme'];
  await (await nodes.start({ flags: [...services, '--server-drain-ms=0'] })).stop();
  await (await nodes.start()).stop();
  await first.stop();
  await (await nodes.start({ flags: ['--accounts-vendor-word=acme'] })).stop();
});
