// Source: gamedata, section 6.1.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { RawConnection, ServerProcess } from '../../harness/index.js';

/** One call each, with the scope that it needs. */
const CALLS: readonly (readonly [scope: string, method: string, path: string])[] = [
  ['read', 'GET', 'items'],
  ['read', 'GET', 'history'],
  ['read', 'GET', 'validate'],
  ['read', 'GET', 'versions'],
  ['read', 'GET', 'export'],
  ['write', 'POST', 'items'],
  ['write', 'PUT', 'items/nobody'],
  ['write', 'PATCH', 'items/nobody'],
  ['write', 'DELETE', 'items/nobody'],
  ['write', 'POST', 'undo'],
  ['write', 'POST', 'discard'],
  ['publish', 'POST', 'save'],
  ['admin', 'POST', 'versions/1/restore'],
  ['admin', 'POST', 'import'],
];
const SCOPES = ['read', 'write', 'publish', 'admin'];

const settingOf = (scope: string): string =>
  `${scope}:${createHash('sha256').update(`token-${scope}`).digest('hex')}:${scope}`;

it('C31 a token may do what its scopes say; the rest is refused before its body is read', async () => {
  const env = { PLINTH_GAMEDATA_TOKENS: SCOPES.map(settingOf).join(',') };
  await using server = await ServerProcess.start({ flags: ['--services', 'gamedata'], env });
  for (const [needed, method, path] of CALLS) {
    for (const scope of SCOPES) {
      const headers = { authorization: `Bearer token-${scope}` };
      const { status, text } = await server.http.send(`/api/editor/${path}`, { method, headers });
      const isRefused = status === 403 && /"code":"forbidden"/.test(text);
      assert.equal(isRefused, scope !== needed, `${method} ${path} with ${scope}: ${text}`);
    }
  }
  using connection = await RawConnection.open(server.url);
  connection.send(
    [
      'POST /api/editor/import HTTP/1.1',
      'Host: localhost',
      'Authorization: Bearer token-read',
      'Content-Type: application/json',
      'Content-Length: 1000000',
      '\r\n',
    ].join('\r\n'),
  );
  await connection.until(/^HTTP\/1\.1 403 [\s\S]*"code":"forbidden"/);
});
