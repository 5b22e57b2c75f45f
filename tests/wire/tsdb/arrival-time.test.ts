// Source: tsdb-http, "Parameter rules": missing timestamp.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  query,
  SharedServer,
  WRITE_APIS,
  type WriteApi,
  write,
} from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
});
after(async () => await server.close());

const NS_PER_MS = 1_000_000n;
const SECOND_NS = 1_000_000_000n;
const nowNs = () => BigInt(Date.now()) * NS_PER_MS;
let dbCount = 0;

/** Writes two lines without a timestamp and one with; the two timestamps are truncated to `unitNs`. */
async function assertArrival(api: WriteApi, parameters: string, unitNs: bigint): Promise<void> {
  const db = `arrival${dbCount++}`;
  const startNs = nowNs();
  assertEmpty(await write(server, { api, db, parameters }, 'm,t=a v=1\nm,t=b v=2 \nn v=3 1'));
  const endNs = nowNs() + NS_PER_MS; // this clock has millisecond resolution
  const q = 'SELECT CAST(CAST(time AS BIGINT) AS VARCHAR) AS t FROM m';
  const [header, ...lines] = (await query(server, { db, q, format: 'csv' })).trimEnd().split('\n');
  assert.equal(header, 't');
  assert.equal(lines.length, 2);
  assert.equal(lines[0], lines[1], 'all lines of a request arrive at one time');
  const timeNs = BigInt(lines[0] ?? '');
  assert.equal(timeNs % unitNs, 0n, `${api} ${parameters}: ${timeNs}`);
  const label = `${api} ${parameters}: ${startNs} ${timeNs} ${endNs}`;
  assert.ok(timeNs >= startNs - (startNs % unitNs) && timeNs <= endNs, label);
}

describe('a line without a time', () => {
  it('W-03 gets the arrival of its request, cut to its precision', async () => {
    const units = { s: SECOND_NS, ms: NS_PER_MS, us: 1_000n, ns: 1n };
    for (const api of WRITE_APIS) {
      for (const [unit, unitNs] of Object.entries(units)) {
        await assertArrival(api, `precision=${unit}`, unitNs);
      }
    }
    await assertArrival('v1', 'precision=m', 60n * SECOND_NS);
    await assertArrival('v1', 'precision=h', 3_600n * SECOND_NS);
  });

  it('W-03 gets the whole arrival when the precision is auto or not given', async () => {
    await assertArrival('write_lp', 'precision=auto', 1n);
    for (const api of WRITE_APIS) await assertArrival(api, 'accept_partial=true', 1n);
  });

  it('W-03 is a point of its own with each request', async () => {
    for (let count = 0; count < 3; count++) {
      assertEmpty(await write(server, { db: 'each' }, `m v=${count}i`));
    }
    const q = 'SELECT v FROM m ORDER BY time';
    assert.equal(await query(server, { db: 'each', q, format: 'csv' }), 'v\n0\n1\n2\n');
  });

  it('W-03 replaces the one before within the unit of its precision', async () => {
    const to = { db: 'hour', api: 'v1', parameters: 'precision=h' } as const;
    const hourOf = () => Math.floor(Date.now() / 3_600_000);
    const startHour = hourOf();
    for (let count = 0; count < 3; count++) assertEmpty(await write(server, to, `m v=${count}i`));
    const text = await query(server, { db: 'hour', q: 'SELECT v FROM m', format: 'csv' });
    // Rarely, the hour changes during the test.
    if (hourOf() === startHour) assert.equal(text, 'v\n2\n');
  });
});
