import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32c } from '../../checksum/crc32c.js';
import { SeededRandom } from '../../testing/seeded-random.js';
import { SimFileSystem } from '../../testing/sim-file-system.js';
import { openCommitLog } from '../file-commit-log.js';
import { encodeFileHeader, encodeRecordHeader } from '../log-format.js';
import type { LogLoss } from '../log-loss.js';

// Source: docs/formats/commit-log.md, "Repair".
const DIRECTORY = '/log';
const FIRST = `${DIRECTORY}/000000000001.log`;
const NODE_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const HEAD = 32;
const DAY_MS = 86_400_000;

async function open(disk: SimFileSystem, repair: boolean) {
  const losses: LogLoss[] = [];
  const log = await openCommitLog({
    ...{ fileSystem: disk, directory: DIRECTORY, nodeId: NODE_ID, repair, zeroStepSize: 700 },
    random: new SeededRandom(7),
    onLoss: (loss) => losses.push(loss),
    // Payloads in these tests start with a digit: the day in January 1970.
    writtenMs: (payload) => (Number(String.fromCharCode(payload[0] ?? 0)) - 1) * DAY_MS,
  });
  const payloads: string[] = [];
  for await (const { payload } of log.replay()) payloads.push(Buffer.from(payload).toString());
  await log.close();
  return { payloads, losses };
}

/** Writes each payload separately. */
async function written(
  payloads: readonly (string | Uint8Array)[],
  nodeId = NODE_ID,
): Promise<SimFileSystem> {
  const disk = new SimFileSystem(new SeededRandom(1));
  const log = await openCommitLog({
    ...{ fileSystem: disk, directory: DIRECTORY, nodeId, zeroStepSize: 700 },
    random: new SeededRandom(7),
    onLoss: () => assert.fail('nothing is lost'),
  });
  for (const payload of payloads) await log.append([Buffer.from(payload)]).durable;
  await log.close();
  return disk;
}

async function bytesOf(disk: SimFileSystem): Promise<Buffer> {
  const handle = await disk.open(FIRST, 'r');
  const bytes = Buffer.alloc(await handle.sizeBytes());
  await handle.read(bytes, 0);
  return bytes;
}

/** The file after a crash, without the mark of a clean stop. */
const bytesAfterCrash = async (disk: SimFileSystem): Promise<Buffer> =>
  (await bytesOf(disk)).subarray(0, -8);

/** One record as encoded in the file. */
function encoded(
  text: string,
  head: { readonly sequence: number; readonly batchDistance: number },
  seed: number,
): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(HEAD);
  const sums = { payloadSize: payload.length, payloadCrc: crc32c([payload]) };
  encodeRecordHeader({ ...sums, ...head }, seed, header, 0);
  return Buffer.concat([header, payload]);
}

/** The seed of every file from `written`, whose salt is always the same. */
const seedOf = async (payloads: readonly string[]): Promise<number> =>
  (await bytesOf(await written(payloads))).readUInt32LE(60);

async function replace(disk: SimFileSystem, bytes: Uint8Array): Promise<void> {
  const handle = await disk.open(FIRST, 'w');
  await handle.write([bytes], 0);
  await handle.sync();
}

const flip = (bytes: Buffer, ...offsets: readonly number[]): Buffer => {
  for (const at of offsets) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  return bytes;
};

const FIVE = ['1 a', '2 b', '3 c', '4 d', '5 e'];
const offsetOf = (index: number): number => 64 + index * (HEAD + 3);

describe('A repair of a log file', () => {
  for (const [what, places] of [
    ['a payload', [HEAD + 1]],
    ['the size', [8]],
    ['the magic', [0]],
    ['the whole header', Array.from({ length: HEAD }, (_, at) => at)],
  ] as const) {
    it(`keeps the records behind one with damage in ${what}, and reports what is lost`, async () => {
      const disk = await written(FIVE);
      const at = offsetOf(1);
      await replace(disk, flip(await bytesOf(disk), ...places.map((place) => at + place)));
      await assert.rejects(open(disk, false), { kind: 'log_damaged' });
      const { payloads, losses } = await open(disk, true);
      assert.deepEqual(payloads, ['1 a', '3 c', '4 d', '5 e']);
      assert.deepEqual(losses, [
        {
          ...{ kind: 'moved_aside', file: FIRST, offset: at, lostBytes: HEAD + 3 },
          ...{ lostRecordCount: 1, keptRecordCount: 3 },
          writtenAfter: '1970-01-01T00:00:00.000Z',
          writtenBefore: '1970-01-03T00:00:00.000Z',
        },
      ]);
      disk.crash();
      const again = await open(disk, false);
      assert.deepEqual([again.payloads, again.losses], [payloads, []], 'the repair is for good');
    });
  }

  it('keeps what stands between several damaged records, and counts all that are lost', async () => {
    const disk = await written(FIVE);
    const places = [offsetOf(0) + 8, offsetOf(1) + 8, offsetOf(3) + HEAD];
    await replace(disk, flip(await bytesOf(disk), ...places));
    const { payloads, losses } = await open(disk, true);
    assert.deepEqual(payloads, ['3 c', '5 e']);
    assert.deepEqual(
      losses.map(({ offset, lostRecordCount, writtenAfter, writtenBefore }) => [
        ...[offset, lostRecordCount, writtenAfter, writtenBefore],
      ]),
      [[64, 3, undefined, '1970-01-05T00:00:00.000Z']],
    );
  });

  it('never takes a payload for records, whatever a client knows of the file but its salt', async () => {
    // The seed that the file would have without a salt.
    const { seed } = encodeFileHeader({
      ...{ nodeId: NODE_ID, serverStartNumber: 0, file: 1, firstSequence: 1 },
      salt: new Uint8Array(12),
    });
    const planted = ['2 forged', '3 forged'].map((text, index) =>
      encoded(text, { sequence: 3 + index, batchDistance: 0 }, seed),
    );
    const disk = await written([
      '1 a',
      Buffer.concat([Buffer.from('2 '), ...planted]),
      '3 c',
      '4 d',
    ]);
    await replace(disk, flip(await bytesOf(disk), offsetOf(1) + 8));
    assert.deepEqual((await open(disk, true)).payloads, ['1 a', '3 c', '4 d']);
  });

  for (const [what, head] of [
    ['the number of the damaged record', { sequence: 2, batchDistance: 0 }],
    ['more records before it than there is room for', { sequence: 9, batchDistance: 0 }],
    ['a write that began in the file header', { sequence: 3, batchDistance: 200 }],
  ] as const) {
    it(`takes no record with right checksums and ${what}`, async () => {
      const seed = await seedOf(['1 a']);
      const planted = [encoded('2 forged', head, seed)];
      const payload = Buffer.concat([Buffer.from('2 '), ...planted]);
      const disk = await written(['1 a', payload, '3 c', '4 d']);
      await replace(disk, flip(await bytesOf(disk), offsetOf(1) + 8));
      assert.deepEqual((await open(disk, true)).payloads, ['1 a', '3 c', '4 d']);
    });
  }

  it('rebuilds a damaged file header, and none of another node or with more damage', async () => {
    for (const [places, kept] of [
      [[0], FIVE],
      [[35], FIVE],
      [[61], FIVE],
      [[50], []],
      [[0, 61], []],
    ] as const) {
      const disk = await written(FIVE);
      await replace(disk, flip(await bytesOf(disk), ...places));
      const { payloads, losses } = await open(disk, true);
      assert.deepEqual([payloads, losses[0]?.kind], [kept, 'moved_aside'], places.join());
    }
    const foreign = await written(FIVE, NODE_ID.replace(/^./, 'f'));
    await replace(foreign, flip(await bytesOf(foreign), 0));
    assert.deepEqual((await open(foreign, true)).payloads, []);
  });

  it('takes a file shorter than its header for one without records', async () => {
    const disk = await written(FIVE);
    await replace(disk, (await bytesOf(disk)).subarray(0, 40));
    assert.deepEqual((await open(disk, true)).payloads, []);
  });

  it('never searches the payload of a record whose header is right', async () => {
    // Copied from a file with the same salt: these bytes are valid in every respect.
    const twin = await bytesOf(await written(['1 a', '2 b', '3 forged']));
    const forged = twin.subarray(offsetOf(2));
    const disk = await written(['1 a', Buffer.concat([Buffer.from('2 '), forged]), '3 c', '4 d']);
    await replace(disk, flip(await bytesOf(disk), offsetOf(1) + HEAD));
    assert.deepEqual((await open(disk, true)).payloads, ['1 a', '3 c', '4 d']);
  });

  it('keeps nothing behind a damaged header in a file of a release without salts', async () => {
    const { bytes: head, seed } = encodeFileHeader({
      ...{ nodeId: NODE_ID, serverStartNumber: 0, file: 1, firstSequence: 1 },
      salt: new Uint8Array(12),
    });
    const disk = await written([]);
    const records = FIVE.map((text, index) =>
      encoded(text, { sequence: index + 1, batchDistance: 0 }, seed),
    );
    const whole = Buffer.concat([head, ...records]);
    await replace(disk, flip(Buffer.from(whole), offsetOf(1) + 8));
    assert.deepEqual((await open(disk, true)).payloads, ['1 a']);
    const zeroed = await written([]);
    const from = offsetOf(1);
    await replace(zeroed, Buffer.from(whole).fill(0, from, from + HEAD));
    const { payloads, losses } = await open(zeroed, true);
    assert.deepEqual(payloads, ['1 a']);
    assert.deepEqual(
      losses.map(({ kind, offset, lostRecordCount }) => [kind, offset, lostRecordCount]),
      [['moved_aside', from, undefined]],
      'how many are lost is unknown',
    );
    const other = await written([]);
    await replace(other, flip(Buffer.from(whole), offsetOf(1) + HEAD));
    assert.deepEqual((await open(other, true)).payloads, ['1 a', '3 c', '4 d', '5 e']);
  });

  it('reads a file full of what looks like the beginning of a record in one pass', async () => {
    const disk = await written(['1 a', Buffer.alloc(3_000_000, 'PREC'), '3 c', '4 d']);
    const reads = { count: 0 };
    const counted = await bytesOf(disk);
    await replace(disk, flip(counted, offsetOf(1) + 8));
    const original = disk.open.bind(disk);
    disk.open = async (...args) => {
      const handle = await original(...args);
      const read = handle.read.bind(handle);
      handle.read = async (...at) => {
        reads.count += 1;
        return await read(...at);
      };
      return handle;
    };
    assert.deepEqual((await open(disk, true)).payloads, ['1 a', '3 c', '4 d']);
    assert.ok(reads.count < 100, `${reads.count} reads`);
  });
});

describe('Bytes that were changed in the zeros behind the last record', () => {
  for (const [what, places] of [
    ['one', [0]],
    ['seven, none of them where a header would be', Array.from({ length: 7 }, (_, at) => 40 + at)],
  ] as const) {
    it(`are removed and no lost records (${what})`, async () => {
      const disk = await written(FIVE);
      const bytes = Buffer.concat([await bytesAfterCrash(disk), Buffer.alloc(700)]);
      await replace(disk, flip(bytes, ...places.map((place) => offsetOf(5) + place)));
      const { payloads, losses } = await open(disk, false);
      assert.deepEqual(payloads, FIVE);
      assert.deepEqual(
        losses.map(({ kind, offset }) => [kind, offset]),
        [['tail_cleared', offsetOf(5)]],
      );
    });
  }

  it('are told from a record whose header was zeroed', async () => {
    const disk = await written([...FIVE, '6 the last one']);
    const bytes = await bytesAfterCrash(disk);
    await replace(disk, bytes.fill(0, offsetOf(5), offsetOf(5) + HEAD));
    const { payloads, losses } = await open(disk, false);
    assert.deepEqual(payloads, FIVE);
    assert.deepEqual(
      losses.map(({ kind, offset }) => [kind, offset]),
      [['tail_cut', offsetOf(5)]],
    );
  });

  it('are told from a record whose first byte is wrong', async () => {
    const disk = await written(FIVE);
    await replace(disk, flip(await bytesAfterCrash(disk), offsetOf(4)));
    const { payloads, losses } = await open(disk, false);
    assert.deepEqual(payloads, FIVE.slice(0, 4));
    assert.deepEqual(
      losses.map(({ kind }) => kind),
      ['tail_cut'],
    );
  });
});

describe('After a clean stop', () => {
  it('zeros in the place of the last record are damage, and a repair does not know how many records it lost', async () => {
    const disk = await written(FIVE);
    await replace(disk, (await bytesOf(disk)).fill(0, offsetOf(4), offsetOf(5)));
    await assert.rejects(open(disk, false), {
      message: `commit log is corrupt: ${FIRST} at offset ${offsetOf(4)}: invalid record before the end recorded at a clean stop`,
    });
    const { payloads, losses } = await open(disk, true);
    assert.deepEqual(payloads, FIVE.slice(0, 4));
    assert.deepEqual(
      losses.map(({ kind, offset, lostRecordCount }) => [kind, offset, lostRecordCount]),
      [['moved_aside', offsetOf(4), undefined]],
    );
  });

  it('the file ends with the mark, which a start cuts off', async () => {
    const disk = await written(FIVE);
    const bytes = await bytesOf(disk);
    const place = Buffer.alloc(8);
    place.writeUInt32LE(offsetOf(5));
    const mark = bytes.subarray(offsetOf(5));
    assert.equal(mark.length, 8);
    assert.equal(mark.toString('latin1', 0, 4), 'EL\0\0');
    const magic = Buffer.from('EL\0\0', 'latin1');
    assert.equal(mark.readUInt32LE(4), crc32c([magic, place], bytes.readUInt32LE(60)));
    assert.deepEqual((await open(disk, false)).losses, []);
    assert.equal((await bytesOf(disk)).length, offsetOf(5));
  });
});
