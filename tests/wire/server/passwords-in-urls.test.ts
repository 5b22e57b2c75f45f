// Source: docs/SECURITY-CREDENTIALS.md: no secret is in the log, at any level.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, ServerInProcess } from '../../harness/index.js';

/** The forms in which 1.x clients send a password. */
const QUERIES = [
  "u=kim&p=it's0SECRETLONG",
  'u=kim&p=it"s0SECRETLONG',
  'u=kim&p=it\\0SECRETLONG',
  'u=kim&%70=0SECRETLONG',
  'u=kim;p=0SECRETLONG',
  "q=CREATE+USER+z+WITH+PASSWORD+'0SECRETLONG'",
  "q=CREATE+USER+z+WITH+PASSWOR%44+'0SECRETLONG'",
  "q=SET+PASSWORD+FOR+z+=+'0SECRETLONG'",
];

it('a password in a URL never appears in the log', async () => {
  await using server = await ServerInProcess.start({
    flags: ['--services', 'tsdb', '--log-level', 'trace'],
  });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const headers = { authorization: `Bearer ${JSON.parse(made.text).token}` };
  for (const query of QUERIES) {
    for (const method of ['GET', 'POST']) {
      using connection = await RawConnection.open(server.url);
      const head = [`${method} /query?db=a&${query}&epoch=ns HTTP/1.1`, 'Host: localhost'];
      connection.send(`${head.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`);
      await connection.until(/^HTTP\/1\.1 \d\d\d [\s\S]*\r\n\r\n/);
    }
  }
  await sleep(300);
  const { text, status } = await server.http.send('/ops/v1/logs?limit=1000', { headers });
  assert.equal(status, 200, text);
  assert.match(text, /\/query\?db=a&u=kim&p=\[redacted\]&epoch=ns/);
  assert.match(server.logText, /\/query\?db=a&u=kim&p=\[redacted\]&epoch=ns/);
  for (const log of [text, server.logText]) assert.doesNotMatch(log, /SECRETLONG/);
});
