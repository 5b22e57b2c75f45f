// Source: docs/METRICS.md, "accounts": tokens that nobody used in their time are noticed once a minute.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccountsServer } from '../../harness/index.js';

const PATIENCE_MS = 150_000;

it('counts tokens that expired unused, and no others', async () => {
  await using server = await AccountsServer.start({ flags: ['--accounts-token-ttl-sec', '20'] });
  const make = async () =>
    await server.ok('/v2/core/account_tokens', { body: { display_name: 'From a token' } });
  const { id: account_token } = await make();
  await server.create({ account_token });
  await make();
  await make();
  const expired = /^accounts_tokens_total\{kind="account",outcome="expired"\} (\d+)$/m;
  for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(500)) {
    const { text } = await server.process.http.send('/metrics');
    const count = Number(expired.exec(text)?.[1]);
    if (count === 2) break;
    assert.ok(count === 0 && Date.now() < endMs, text);
  }
});
