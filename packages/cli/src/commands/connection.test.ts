// Source: docs/formats/backup.md, "Consistency": every file is there with the bytes that the server has of it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bytesOf, callOk, failureOf } from './connection.js';

it('reads the whole body of an answer that nobody else holds, whenever memory is collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const sent = 'x'.repeat(728);
  const server = createServer((_, response) => response.end(sent)).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const host = `http://127.0.0.1:${port}`;
    const begin = async () => bytesOf(await callOk({ host }, '/'));
    for (let i = 0; i < 5; i++) {
      const pieces = await begin();
      await sleep(5);
      collect();
      await sleep(5);
      let read = '';
      for await (const piece of pieces) read += Buffer.from(piece).toString();
      assert.equal(read, sent);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

it('tells of an answer that is none instead of ending without a word', async () => {
  const server = createNetServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const asked = callOk({ host: `http://127.0.0.1:${port}` }, '/');
    await assert.rejects(asked, { name: 'CommandFailed', exitCode: 3 });
  } finally {
    server.close();
  }
});

it('does not blame the token for a host name that the server rejects', () => {
  const connection = { host: 'https://plinth.example.com', token: 'secret' };
  const refused = 'the host plinth.example.com is not allowed; set server.public_url';
  const failure = failureOf(403, refused, connection);
  assert.match(failure.message, /^the server rejected the host name in --host \(the host plinth/);
  assert.match(
    failure.message,
    /restart the server\. The token and the claim code are not the cause/,
  );
  assert.doesNotMatch(failure.message, /permission/);
  const denied = failureOf(
    403,
    'unauthorized to perform requested action with the token',
    connection,
  );
  assert.match(denied.message, /lacks the required permission/);
});
