import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { it } from 'node:test';
import { fastify } from 'fastify';
import { signalOf } from './plain-request.js';

it('tells who asks when the client has gone already', async () => {
  const app = fastify();
  const asked = new Promise<AbortSignal>((resolve) => {
    app.get('/', async (_request, reply) => {
      client.destroy();
      await once(reply.raw, 'close');
      resolve(signalOf(reply));
      return reply;
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo; // it listens on a port
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  assert.ok((await asked).aborted);
  await app.close();
});
