// Source: docs/spec/rate-limits.md, sections 8.2 and 12.1.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Platform } from './platform.js';

const ROOM = '{"core":{"limit":1000,"anonymous_limit":1000}}';
const POINTS = 10;
const SPELLINGS = [
  ...['/same', '//same', '/%73ame', '/./same', '/x/../same', '/%2e/same', '/x/%2E%2e/same'],
  ...['/same/', '/same?a=1', '/%2Fsame', '/same#x', 'http://example.com/same', '/../same'],
  ...['/x/y/../../same/.', '/same//', '/same/z/..'],
];

describe('the endpoint in a proxy check', () => {
  let platform: Platform;
  before(async () => {
    platform = await Platform.start([
      ...['--rate-limit-resources', ROOM],
      ...['--rate-limit-secondary-points-rest', String(POINTS)],
    ]);
  });
  after(async () => await platform[Symbol.asyncDispose]());

  let users = 0;
  /** Number of admitted checks of a new user. */
  async function passes(questions: readonly Readonly<Record<string, string>>[]): Promise<number> {
    users += 1;
    const authorization = await platform.token({ kind: 'personal', identity: `user:${users}` });
    let count = 0;
    for (const named of questions) {
      const headers = { authorization, ...named };
      const { status } = await platform.server.http.send('/ops/v1/rate-limits/auth', { headers });
      if (status === 204) count += 1;
      else assert.equal(status, 403);
    }
    return count;
  }
  const times = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));

  it('is the same for all forms of its path', async () => {
    assert.equal(await passes(SPELLINGS.map((uri) => ({ 'x-original-uri': uri }))), POINTS);
    assert.equal(await passes(SPELLINGS.map((uri) => ({ 'x-forwarded-uri': uri }))), POINTS);
    const apart = SPELLINGS.map((_, index) => ({ 'x-original-uri': `/same/${index}` }));
    assert.equal(await passes(apart), apart.length);
    const responses = await Promise.all(
      SPELLINGS.map(async (path) => {
        const named = { identity: 'user:99', path };
        const entries = Object.entries(named).map(([key, value]) => ({ key, value }));
        const body = JSON.stringify({ domain: 'edge', descriptors: [{ entries }] });
        const headers = { authorization: `Bearer ${platform.admin}` };
        return (await platform.server.http.send('/json', { body, headers })).status;
      }),
    );
    assert.equal(responses.filter((status) => status === 200).length, POINTS, 'Envoy');
  });

  it('is shared by all requests with an invalid path', async () => {
    const broken = times(POINTS + 5, (index) => ({
      'x-original-uri': [`/%z${index}`, `/${index}%ff`, `a${index}`][index % 3] ?? '',
    }));
    assert.equal(await passes(broken), POINTS);
  });

  it('is not chosen by a client whose proxy sets the other headers', async () => {
    const of = (client: object, proxy: object) =>
      times(POINTS + 5, () => ({ ...client, ...proxy }));
    const write = { 'x-forwarded-uri': '/same', 'x-forwarded-method': 'POST' };
    const read = { 'x-original-uri': '/same', 'x-original-method': 'GET' };
    assert.equal(await passes(of(read, write)), POINTS / 5);
    const written = { 'x-original-uri': '/same', 'x-original-method': 'delete' };
    const asRead = { 'x-forwarded-uri': '//same', 'x-forwarded-method': 'HEAD' };
    assert.equal(await passes(of(asRead, written)), POINTS / 5);
    const anywhere = times(POINTS + 5, (index) => ({
      'x-original-uri': `/${index}`,
      'x-forwarded-uri': '/same',
    }));
    assert.equal(await passes(anywhere), POINTS);
  });
});
