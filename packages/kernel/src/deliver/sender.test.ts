// Source: webhooks, sections 6.6 and 9.
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Clock } from '../clock/clock.js';
import { SystemClock } from '../clock/system-clock.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Sender } from './sender.js';
import { TargetGuard } from './target-guard.js';

const open: { close(): unknown }[] = [];
after(() => {
  for (const one of open) one.close();
});

async function listen(answer: (response: ServerResponse) => void): Promise<{
  readonly server: Server;
  readonly port: number;
  readonly connections: () => number;
}> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(response));
  });
  server.on('connection', () => {
    count += 1;
  });
  server.keepAliveTimeout = 120_000; // Only the sender closes connections.
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => server.close().closeAllConnections() });
  return { server, port: (server.address() as AddressInfo).port, connections: () => count };
}

const countOf = (server: Server): Promise<number> =>
  promisify(server.getConnections.bind(server))();

/** Each lookup returns the next of these addresses. */
function senderOf(
  responses: readonly string[],
  clock: Clock = new SystemClock(),
  timeoutMs = 5000,
): { readonly sender: Sender; asked: () => number } {
  let askedCount = 0;
  const sender = new Sender(
    {
      guard: new TargetGuard({ allowed: ['127.0.0.0/8'] }),
      lookup: async (): Promise<readonly LookupAddress[]> => {
        const address = responses[askedCount++] ?? '';
        return [{ address, family: 4 }];
      },
      authorities: [],
      proxy: undefined,
      timeoutMs,
      maxResponseBytes: 1024,
    },
    clock,
  );
  open.push(sender);
  return { sender, asked: () => askedCount };
}

const requestTo = (port: number, path = '/') => ({
  url: new URL(`http://user:word@rebound.example:${port}${path}`),
  headers: { 'X-Mine': 'yes' },
  body: Buffer.from('{}'),
});

describe('Sender', () => {
  it('checks the address of a name at each connection', async () => {
    const { port, connections } = await listen((response) => {
      response.writeHead(200, { connection: 'close' }).end();
    });
    const { sender } = senderOf(['127.0.0.1', '10.0.0.7', '169.254.169.254', '127.0.0.1']);
    const kinds: string[] = [];
    for (let count = 0; count < 4; count++) {
      kinds.push((await sender.send(requestTo(port))).kind);
    }
    assert.deepEqual(kinds, ['answered', 'host_unreachable', 'host_unreachable', 'answered']);
    assert.equal(connections(), 2);
  });

  it('reuses a connection without another lookup, and only for the same origin', async () => {
    const first = await listen((response) => response.end());
    const second = await listen((response) => response.end());
    const { sender, asked } = senderOf(['127.0.0.1', '127.0.0.1']);
    for (const { port } of [first, first, second, first]) {
      assert.equal((await sender.send(requestTo(port))).kind, 'answered');
    }
    assert.equal(asked(), 2);
    assert.deepEqual([first.connections(), second.connections()], [1, 1]);
  });

  describe('interim responses', () => {
    /** A receiver that writes `pieces`, several milliseconds apart, and then closes or waits. */
    const writing = async (pieces: readonly string[], isLeft = false): Promise<number> => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {});
        let text = '';
        socket.on('data', async (chunk) => {
          text += chunk;
          if (!text.endsWith('{}')) return;
          text = '';
          for (const piece of pieces) {
            socket.write(piece);
            await sleep(5);
          }
          if (isLeft) socket.end();
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      open.push({ close: () => server.close() });
      return (server.address() as AddressInfo).port;
    };
    const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
    const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

    it('skips a 100 Continue that was not requested', async () => {
      for (const pieces of [
        [CONTINUE + OK],
        [CONTINUE, OK],
        [...(CONTINUE + OK)],
        [HINTS + CONTINUE + HINTS + OK],
        [`HTTP/1.0 100 \r\n\r\n${OK}`],
        [CONTINUE.repeat(20), OK],
        // Longer than an interim response may be, and complete in one read.
        [
          `${CONTINUE}HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`,
        ],
      ]) {
        const { sender } = senderOf(['127.0.0.1']);
        const port = await writing(pieces);
        // Twice over one connection: each response has its own interim responses.
        for (let count = 0; count < 2; count += 1) {
          const outcome = await sender.send(requestTo(port));
          assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
          assert.deepEqual([outcome.statusCode, String(outcome.body)], [200, 'ok']);
          assert.equal(outcome.isTruncated, false);
        }
      }
    });

    it('are not a response, and more than 20 fail the attempt', async () => {
      for (const [pieces, isLeft, statusCode] of [
        [[CONTINUE], true, 100],
        [[CONTINUE + HINTS], true, 103],
        [[CONTINUE.repeat(21) + OK], false, 100],
        [
          ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
          false,
          101,
        ],
      ] as const) {
        const { sender } = senderOf(['127.0.0.1']);
        const outcome = await sender.send(requestTo(await writing(pieces, isLeft)));
        assert.equal(outcome.kind, 'informational_only', JSON.stringify(outcome));
        assert.equal(outcome.statusCode, statusCode);
      }
    });

    it('are removed only before a response', async () => {
      const body = CONTINUE.repeat(2);
      const response = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;
      const { sender } = senderOf(Array(4).fill('127.0.0.1'));
      const outcome = await sender.send(requestTo(await writing([response, body])));
      assert.equal(outcome.kind === 'answered' && String(outcome.body), body);
      for (const [text, kind] of [
        ['HTTP/1.1 099 Low\r\n\r\n', 'not_http'],
        ['SSH-2.0-x 100\r\n\r\n', 'not_http'],
        ['HT', 'connection_lost'],
      ] as const) {
        assert.equal((await sender.send(requestTo(await writing([text], true)))).kind, kind, text);
      }
    });
  });

  describe('a receiver that fails', () => {
    /** Sends a request, during which the receiver acts, and returns the outcome. */
    async function outcomeOf(act: (socket: Socket) => void, timeoutMs?: number) {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => act(socket));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const { sender } = senderOf(['127.0.0.1'], new SystemClock(), timeoutMs);
      const outcome = await sender.send(requestTo(port));
      server.close();
      sender.close();
      return outcome;
    }

    it('has timed out, even if it keeps sending headers', async () => {
      const silent = await outcomeOf(() => {}, 100);
      const trickling = await outcomeOf((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('X-A: b\r\n'), 10);
        socket.on('close', () => clearInterval(timer));
      }, 100);
      assert.deepEqual([silent.kind, trickling.kind], ['timed_out', 'timed_out']);
    });

    it('has answered if only its body does not end', async () => {
      const outcome = await outcomeOf((socket) => {
        socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 1000\r\n\r\npart');
      }, 200);
      assert.ok(outcome.kind === 'answered');
      assert.deepEqual([outcome.statusCode, String(outcome.body)], [202, 'part']);
      assert.equal(outcome.isTruncated, true);
    });

    it('has lost the connection or does not speak HTTP', async () => {
      for (const [text, kind] of [
        ['', 'connection_lost'],
        ['SSH-2.0-x\r\n', 'not_http'],
        ['HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n', 'not_http'],
        [
          'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
          'not_http',
        ],
      ] as const) {
        assert.equal((await outcomeOf((socket) => socket.end(text))).kind, kind, text);
      }
      const reset = await outcomeOf((socket) => socket.resetAndDestroy());
      assert.equal(reset.kind, 'connection_lost');
      const { server, port } = await listen(() => {});
      await promisify(server.close.bind(server))();
      assert.equal(
        (await senderOf(['127.0.0.1']).sender.send(requestTo(port))).kind,
        'connection_lost',
      );
    });

    it('has no valid TLS', async () => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      open.push({ close: () => server.close() });
      const { port } = server.address() as AddressInfo;
      const url = new URL(`https://rebound.example:${port}/`);
      const outcome = await senderOf(['127.0.0.1']).sender.send({ ...requestTo(port), url });
      assert.equal(outcome.kind, 'tls_failed');
    });
  });

  it('follows no redirect', async () => {
    const inner = await listen((response) => response.end());
    const { port } = await listen((response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/` }).end();
    });
    const { sender } = senderOf(['127.0.0.1']);
    const outcome = await sender.send(requestTo(port));
    assert.equal(outcome.kind === 'answered' && outcome.statusCode, 307);
    assert.equal(inner.connections(), 0);
  });

  it('rejects a header with a line break, and sends nothing', async () => {
    const { server, port } = await listen(() => assert.fail('a request came'));
    const { sender } = senderOf(['127.0.0.1', '127.0.0.1']);
    for (const value of ['a\r\nX-Other: b', 'a\nb']) {
      const request = { ...requestTo(port), headers: { 'X-Mine': value } };
      assert.notEqual((await sender.send(request)).kind, 'answered');
    }
    // The connections of rejected requests are closed.
    for (const endMs = Date.now() + 5000; (await countOf(server)) > 0; await sleep(10)) {
      assert.ok(Date.now() < endMs, 'a connection is left');
    }
  });

  it('does not reuse an unverified connection for a verified request', async () => {
    const pem = (name: string) =>
      readFileSync(new URL(`../../../../tests/harness/tls/first-${name}.pem`, import.meta.url));
    const server = createTlsServer({ key: pem('key'), cert: pem('cert') }, (request, response) => {
      request.resume();
      request.on('end', () => response.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: () => server.close().closeAllConnections() });
    const { port } = server.address() as AddressInfo;
    const { sender, asked } = senderOf(Array(4).fill('127.0.0.1'));
    const request = { ...requestTo(port), url: new URL(`https://rebound.example:${port}/`) };
    const kinds: string[] = [];
    for (const insecure of [true, true, false, true]) {
      kinds.push((await sender.send(request, { insecure })).kind);
    }
    assert.deepEqual(kinds, ['answered', 'answered', 'certificate_refused', 'answered']);
    assert.equal(asked(), 2, 'the kept one is used where none is verified');
  });

  it('ends early when its signal is aborted', async () => {
    const { port } = await listen(() => {});
    const { sender } = senderOf(['127.0.0.1', '127.0.0.1']);
    const stop = new AbortController();
    const sending = sender.send(requestTo(port), { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    assert.equal((await sending).kind, 'timed_out');
    const quick = await listen((response) => response.end());
    const late = await sender.send(requestTo(quick.port), { signal: stop.signal });
    assert.equal(late.kind, 'timed_out');
    assert.equal(quick.connections(), 0);
  });

  describe('kept connections', () => {
    const LOOPBACK = Array<string>(100).fill('127.0.0.1');
    const untilCount = async (server: Server, count: number): Promise<void> => {
      for (const endMs = Date.now() + 5000; (await countOf(server)) !== count; await sleep(10)) {
        assert.ok(Date.now() < endMs, `${await countOf(server)} connections, not ${count}`);
      }
    };
    const sendAtOnce = async (sender: Sender, port: number, count: number): Promise<void> => {
      const sent = Array.from({ length: count }, () => sender.send(requestTo(port)));
      for (const outcome of await Promise.all(sent)) assert.equal(outcome.kind, 'answered');
    };
    const slowly = (response: ServerResponse): void => {
      setTimeout(() => response.end(), 50);
    };

    it('are at most 32 per origin, and are closed with the sender', async () => {
      const { server } = await listen(slowly);
      const { port } = server.address() as AddressInfo;
      const { sender } = senderOf(LOOPBACK);
      await sendAtOnce(sender, port, 40);
      await untilCount(server, 32);
      const last = sender.send(requestTo(port));
      sender.close();
      assert.equal((await last).kind, 'answered');
      await untilCount(server, 0);
    });

    it('are closed after 30 s without use', async () => {
      const clock = new ManualClock();
      const { server, port, connections } = await listen(slowly);
      const { sender } = senderOf(LOOPBACK, clock);
      await sendAtOnce(sender, port, 2);
      await clock.advanceMs(20_000);
      await sendAtOnce(sender, port, 1);
      await clock.advanceMs(20_000);
      await untilCount(server, 1);
      await sendAtOnce(sender, port, 1);
      assert.equal(connections(), 2);
      await clock.advanceMs(40_000);
      await untilCount(server, 0);
      await sendAtOnce(sender, port, 1);
      assert.equal(connections(), 3);
    });

    it('are not reused after a truncated response', async () => {
      const { server, port, connections } = await listen((response) => {
        response.end('x'.repeat(5000));
      });
      const { sender } = senderOf(LOOPBACK);
      for (let count = 1; count <= 2; count += 1) {
        const outcome = await sender.send(requestTo(port));
        assert.equal(outcome.kind === 'answered' && outcome.body.length, 1024);
        assert.equal(connections(), count);
        await untilCount(server, 0);
      }
    });

    /** Responds to the first request of each connection, and writes `bytes` and closes at the second. */
    const endingAtSecond = async (bytes: string) => {
      let requestCount = 0;
      const server = createTcpServer((socket) => {
        let own = 0;
        socket.on('error', () => {});
        socket.on('data', (chunk) => {
          if (!String(chunk).endsWith('{}')) return;
          requestCount += 1;
          own += 1;
          if (own === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
          else socket.end(bytes);
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      open.push({ close: () => server.close() });
      return { port: (server.address() as AddressInfo).port, requests: () => requestCount };
    };

    it('are replaced when they close before a response, but not after it has started', async () => {
      const quiet = await endingAtSecond('');
      const { sender } = senderOf(LOOPBACK);
      await sendAtOnce(sender, quiet.port, 1);
      await sendAtOnce(sender, quiet.port, 1);
      assert.equal(quiet.requests(), 3);
      const begun = await endingAtSecond('HTTP/1.1 200 O');
      await sendAtOnce(sender, begun.port, 1);
      assert.equal((await sender.send(requestTo(begun.port))).kind, 'connection_lost');
      assert.equal(begun.requests(), 2);
    });

    it('are not reused after their receiver has closed them', async () => {
      const { server, port, connections } = await listen((response) => response.end());
      const { sender } = senderOf(LOOPBACK);
      await sendAtOnce(sender, port, 1);
      server.closeAllConnections();
      await untilCount(server, 0);
      await sleep(20);
      await sendAtOnce(sender, port, 1);
      assert.equal(connections(), 2);
    });
  });

  it('sends nothing when the request is canceled during the connect', async () => {
    const { port } = await listen(() => assert.fail('a request came'));
    const { sender } = senderOf(['127.0.0.1']);
    const outcome = await sender.send(requestTo(port), { maySend: () => false });
    assert.equal(outcome.kind, 'timed_out');
  });
});
