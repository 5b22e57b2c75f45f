// Source: tsdb-http, "Transport and common behavior"; CVE-2023-44487, CVE-2019-9512, 9515 and 9518, CVE-2024-27983.
// Attacks that are free for the attacker must not affect other clients.
// Own process: it is flooded.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Http2Client, ServerProcess } from '../../harness/index.js';

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start();
});
after(async () => await server.close());

const TYPE = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  CONTINUATION: 9,
};
const END_STREAM = 1;
const END_HEADERS = 4;

function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = new Uint8Array(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Header fields as never-indexed literals. Source: RFC 7541, 6.2.3. */
const fields = (pairs: readonly (readonly [string, string])[]): Uint8Array =>
  Buffer.concat(
    pairs.map(([name, value]) =>
      Buffer.from(
        `\x10${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`,
        'latin1',
      ),
    ),
  );

const HEALTH = fields([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/health'],
  [':authority', 'flood'],
]);
const FLIGHT = fields([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/arrow.flight.protocol.FlightService/DoGet'],
  [':authority', 'flood'],
  ['content-type', 'application/grpc'],
]);
/** An accepted request: a refused one would close its stream while frames still arrive. */
const WRITE = fields([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/api/v3/write_lp?db=flood'],
  [':authority', 'localhost'],
]);
const CANCEL = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);

/** A connection that has sent the preface. Collects the responses. */
class RawHttp2 {
  readonly #socket: Socket;
  readonly ended: Promise<unknown>;
  #received = Buffer.alloc(0);

  constructor() {
    const { hostname, port } = new URL(server.url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('error', () => {}); // It may be reset while it is sending.
    this.#socket.on('data', (piece) => {
      this.#received = Buffer.concat([this.#received, piece]);
    });
    this.ended = once(this.#socket, 'close');
    this.send([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(TYPE.SETTINGS, 0, 0)]);
  }

  send(frames: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(frames));
  }

  /** Codes of all GOAWAY frames. */
  get goAwayCodes(): readonly number[] {
    const codes: number[] = [];
    const bytes = this.#received;
    for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
      if (bytes[at + 3] === TYPE.GOAWAY && at + 17 <= bytes.length) {
        codes.push(bytes.readUInt32BE(at + 13));
      }
    }
    return codes;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Opens streams `[from, to)` and resets each immediately. */
const takenBack = (headers: Uint8Array, flags: number, from: number, to: number): Buffer[] =>
  Array.from({ length: to - from }, (_, i) => {
    const id = 2 * (from + i) + 1;
    return Buffer.concat([
      frame(TYPE.HEADERS, flags | END_HEADERS, id, headers),
      frame(TYPE.RST_STREAM, 0, id, CANCEL),
    ]);
  });

async function assertServes(): Promise<void> {
  await using client = new Http2Client(server.url);
  assert.equal((await client.send('/health')).status, 200);
}

describe('a connection over HTTP/2', () => {
  it('T-01 may cancel a few hundred requests', async () => {
    using raw = new RawHttp2();
    raw.send(takenBack(HEALTH, END_STREAM, 0, 200));
    raw.send(takenBack(FLIGHT, 0, 200, 400));
    await assertServes();
    assert.deepEqual(raw.goAwayCodes, []);
  });

  for (const [what, headers, flags] of [
    ['requests', HEALTH, END_STREAM],
    ['calls', FLIGHT, 0],
  ] as const) {
    it(`T-01 that cancels ${what} by the hundred is closed with ENHANCE_YOUR_CALM`, async () => {
      using raw = new RawHttp2();
      // Fewer than the limit of the library itself.
      for (let from = 0; from < 900; from += 100) {
        raw.send(takenBack(headers, flags, from, from + 100));
      }
      await raw.ended;
      assert.deepEqual(raw.goAwayCodes, [constants.NGHTTP2_ENHANCE_YOUR_CALM]);
      await assertServes();
    });
  }

  it('T-01 that cancels thousands at once does not harm the server', async () => {
    const all = Array.from({ length: 4 }, () => new RawHttp2());
    for (const raw of all) raw.send(takenBack(FLIGHT, 0, 0, 5000));
    await Promise.all(all.map(({ ended }) => ended));
    for (const raw of all) raw[Symbol.dispose]();
    await assertServes();
  });

  const FLOODS: Readonly<Record<string, readonly Buffer[]>> = {
    'asks for signs of life without end': Array(5000).fill(frame(TYPE.PING, 0, 0, Buffer.alloc(8))),
    'announces settings without end': Array(5000).fill(frame(TYPE.SETTINGS, 0, 0)),
    'continues headers without end': [
      frame(TYPE.HEADERS, END_STREAM, 1, HEALTH),
      ...Array(1000).fill(frame(TYPE.CONTINUATION, 0, 1)),
    ],
    'sends a body of empty frames': [
      frame(TYPE.HEADERS, END_HEADERS, 1, WRITE),
      ...Array(5000).fill(frame(TYPE.DATA, 0, 1)),
    ],
  };
  for (const [what, frames] of Object.entries(FLOODS)) {
    it(`T-01 that ${what} is closed`, async () => {
      using raw = new RawHttp2();
      raw.send(frames);
      await raw.ended;
      assert.equal(raw.goAwayCodes.length, 1);
      await assertServes();
    });
  }

  it('T-01 may have a thousand open requests', async () => {
    await using client = new Http2Client(server.url);
    const responses = await Promise.all(
      Array.from({ length: 1000 }, async () => await client.send('/health')),
    );
    assert.ok(responses.every(({ status }) => status === 200));
  });
});
