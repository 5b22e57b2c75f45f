// Source: rate-limits, section 19. Uses the real client with its two plugins.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Octokit } from 'octokit';
import { Platform } from './platform.js';

interface Seen {
  readonly kind: 'primary' | 'secondary';
  readonly retryAfter: number;
}

/** The client as applications use it; `octokit` includes both plugins. */
function clientOf(platform: Platform, token: string, response: boolean, seen: Seen[]): Octokit {
  const note =
    (kind: Seen['kind']) =>
    (retryAfter: number): boolean => {
      seen.push({ kind, retryAfter });
      return response && seen.length === 1;
    };
  return new Octokit({
    auth: token.slice('Bearer '.length),
    baseUrl: `${platform.server.url}/api/v3`,
    throttle: {
      onRateLimit: note('primary'),
      onSecondaryRateLimit: note('secondary'),
      // The plugin's default delays are too long for a test.
      fallbackSecondaryRateRetryAfter: 1,
    },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
}

const statusOf = async (request: Promise<{ readonly status: number }>): Promise<number> => {
  try {
    return (await request).status;
  } catch (error) {
    return Number(Reflect.get(Object(error), 'status'));
  }
};

describe('octokit', () => {
  it('reads the limits', async () => {
    await using platform = await Platform.start();
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const octokit = clientOf(platform, token, false, []);
    const { data, headers } = await octokit.rest.rateLimit.get();
    assert.equal(data.rate.limit, 5_000);
    assert.equal(data.resources.search.limit, 30);
    assert.equal(headers['x-ratelimit-limit'], '5000');
    await octokit.rest.meta.get();
    assert.equal((await octokit.rest.rateLimit.get()).data.rate.used, 1);
  });

  it('recognizes a primary refusal, waits for the reset and succeeds', async () => {
    await using platform = await Platform.start([
      '--rate-limit-resources',
      '{"core":{"limit":2,"window":3}}',
    ]);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const seen: Seen[] = [];
    const octokit = clientOf(platform, token, true, seen);
    const startMs = performance.now();
    for (let index = 0; index < 3; index += 1) {
      assert.equal(await statusOf(octokit.rest.meta.get()), 200);
    }
    assert.equal(seen.length, 1);
    assert.equal(seen[0]?.kind, 'primary');
    // The plugin waits for the seconds until the reset plus one.
    assert.ok((seen[0]?.retryAfter ?? 0) >= 1 && (seen[0]?.retryAfter ?? 9) <= 4);
    assert.ok(performance.now() - startMs > 1_500);
  });

  it('recognizes a secondary refusal and waits for `retry-after`', async () => {
    await using platform = await Platform.start([
      '--rate-limit-secondary-points-rest',
      '2',
      '--rate-limit-test-window-seconds',
      '2',
    ]);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const seen: Seen[] = [];
    const octokit = clientOf(platform, token, true, seen);
    for (let index = 0; index < 3; index += 1) {
      assert.equal(await statusOf(octokit.rest.meta.get()), 200);
    }
    assert.equal(seen[0]?.kind, 'secondary');
    assert.ok((seen[0]?.retryAfter ?? 0) >= 1 && (seen[0]?.retryAfter ?? 9) <= 3);
  });

  it('fails immediately without retries: the retry plugin does not repeat 403', async () => {
    await using platform = await Platform.start(['--rate-limit-resources', '{"core":{"limit":1}}']);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const seen: Seen[] = [];
    const octokit = clientOf(platform, token, false, seen);
    assert.equal(await statusOf(octokit.rest.meta.get()), 200);
    assert.equal(await statusOf(octokit.rest.meta.get()), 403);
    assert.equal(seen.length, 1);
    const shown = JSON.parse((await platform.ops('GET', 'rate-limits/user:1')).text);
    assert.equal(shown.buckets.core.used, 1);
  });
});

describe('the rules of other clients', () => {
  it('fit both kinds of refusal', async () => {
    await using platform = await Platform.start(['--rate-limit-resources', '{"core":{"limit":1}}']);
    const ask = async (question: object) =>
      JSON.parse((await platform.ops('POST', 'rate-limits/check', question)).text);
    await ask({ identity: 'user:1' });
    const primary = await ask({ identity: 'user:1' });
    // go-github checks for 403 and the text "0"; PyGithub and octokit.rb check the start of the
    // message.
    assert.equal(primary.headers['x-ratelimit-remaining'], '0');
    assert.match(primary.body.message.toLowerCase(), /^api rate limit exceeded/);
    assert.doesNotMatch(primary.body.message, /\bsecondary rate\b/i);
    const secondary = [
      await ask({ identity: 'user:2', heavy: 101 }),
      await ask({ identity: 'user:3', content: true, content_per_minute: 0 }),
    ];
    for (const { body, headers, status } of secondary) {
      assert.equal(status, 403);
      assert.notEqual(headers['x-ratelimit-remaining'], '0');
      assert.match(body.message, /\bsecondary rate\b/i);
      assert.match(body.message.toLowerCase(), /^you have exceeded a secondary rate limit/);
      assert.match(
        body.message.toLowerCase(),
        /(please retry your request again later\.|please wait a few minutes before you try again\.)$/,
      );
      assert.match(body.documentation_url, /secondary-rate-limits$/);
      assert.match(headers['retry-after'], /^[1-9]\d*$/);
    }
  });
});
