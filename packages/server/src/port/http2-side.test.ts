import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { SystemClock } from '@plinth/kernel';
import { type Http2Handler, Http2Side } from './http2-side.js';

describe('unanswered HTTP/2 requests', () => {
  let handler: Http2Handler;
  const serve = (keepAliveMs: number) => {
    const side = new Http2Side((request, response) => handler(request, response), {
      clock: new SystemClock(),
      keepAliveMs,
    });
    const server = createServer((socket) => side.take(socket));
    before(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    after(() => {
      server.close();
      side.destroy();
    });
    return server;
  };
  const server = serve(500);
  /** A server without idle timeout. */
  const patient = serve(600_000);

  it('do not keep an idle connection open beyond the timeout', async () => {
    handler = (_request, response) => response.end('OK');
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const client = connect(`http://127.0.0.1:${port}`);
    const request = client.request();
    request.resume();
    await once(request, 'end');
    await once(client, 'close');
  });

  it('do not keep a connection open that only pings, or has sent a partial head', async () => {
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const client = connect(`http://127.0.0.1:${port}`);
    client.on('error', () => undefined);
    const pinging = setInterval(() => void (client.closed || client.ping(() => undefined)), 50);
    const half = connectTcp(port, '127.0.0.1');
    half.resume();
    half.on('error', () => undefined);
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    // HEADERS of stream 1 that announce another frame, which never arrives.
    const headers = Buffer.from([0, 0, 1, 1, 1, 0, 0, 0, 1, 0x82]);
    half.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings, headers]));
    await Promise.all([once(client, 'close'), once(half, 'close')]);
    clearInterval(pinging);
  });

  /** Sends 700 requests on one connection. Returns the code with which the server closed it, if it did. */
  async function goAwayCode(closeWith: number | undefined): Promise<number | undefined> {
    const { port } = patient.address() as AddressInfo; // It listens on TCP.
    const client = connect(`http://127.0.0.1:${port}`);
    client.on('error', () => undefined);
    let code: number | undefined;
    client.on('goaway', (reason) => {
      code = reason;
    });
    await once(client, 'connect');
    for (let i = 0; i < 700 && !client.closed && !client.destroyed; i++) {
      const request = client.request({ ':path': '/' });
      request.on('error', () => undefined);
      request.resume();
      if (closeWith !== undefined) setImmediate(() => request.close(closeWith));
      await new Promise<void>((resolve) => request.once('close', resolve));
    }
    client.destroy();
    return code;
  }

  it('close the connection when the client has canceled too many, with any code', async () => {
    handler = () => undefined;
    for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]) {
      assert.equal(await goAwayCode(code), constants.NGHTTP2_ENHANCE_YOUR_CALM, `code ${code}`);
    }
  });

  it('do not when responses were aborted by the server or have ended', async () => {
    handler = (_request, response) => {
      response.write('begun');
      setImmediate(() => response.stream.destroy(new Error('the rest cannot be made')));
    };
    assert.equal(await goAwayCode(undefined), undefined);
    handler = (_request, response) => {
      response.end('answered');
    };
    assert.equal(await goAwayCode(undefined), undefined);
  });
});
