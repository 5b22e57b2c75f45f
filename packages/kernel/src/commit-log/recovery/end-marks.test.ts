import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../testing/manual-clock.js';
import { SeededRandom } from '../../testing/seeded-random.js';
import { SimFileSystem } from '../../testing/sim-file-system.js';
import { openCommitLog } from '../file-commit-log.js';
import { NO_CHECKPOINT } from '../log-checkpoint.js';
import type { LogLoss } from '../log-loss.js';
import { checkLog } from './log-recovery.js';

// Source: docs/formats/commit-log.md, "Mark of an idle log, 8 bytes" and "Reading".
const DIRECTORY = '/log';
const NODE_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const HEAD = 32;
const SECTOR = 512;
const IDLE_MS = 1000;

const fileOf = (number: number): string => `${DIRECTORY}/${String(number).padStart(12, '0')}.log`;

class Log {
  readonly disk = new SimFileSystem(new SeededRandom(1));
  readonly clock = new ManualClock();
  readonly losses: LogLoss[] = [];

  async open(repair = false) {
    return await openCommitLog({
      ...{
        fileSystem: this.disk,
        directory: DIRECTORY,
        nodeId: NODE_ID,
        repair,
        zeroStepSize: 700,
      },
      ...{ random: new SeededRandom(7), clock: this.clock },
      onLoss: (loss) => this.losses.push(loss),
      describe: (payload) => `begins with ${Buffer.from(payload).toString('latin1', 0, 1)}`,
    });
  }

  /** Writes each payload separately and is killed, after it was idle or not. */
  async writeUntilKilled(payloads: readonly string[], isIdle: boolean): Promise<void> {
    const log = await this.open();
    for (const payload of payloads) await log.append([Buffer.from(payload)]).durable;
    if (isIdle) await this.idle();
  }

  /** The time in which the log writes its mark. */
  async idle(): Promise<void> {
    for (let part = 0; part < 4; part += 1) {
      await this.clock.advanceMs(IDLE_MS / 2);
      for (let tick = 0; tick < 5; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async replayed(repair = false): Promise<string[]> {
    this.losses.length = 0;
    const log = await this.open(repair);
    const payloads: string[] = [];
    for await (const { payload } of log.replay()) payloads.push(Buffer.from(payload).toString());
    await log.close();
    return payloads;
  }

  async bytes(path = fileOf(1)): Promise<Buffer> {
    const handle = await this.disk.open(path, 'r');
    const bytes = Buffer.alloc(await handle.sizeBytes());
    await handle.read(bytes, 0);
    return bytes;
  }

  async change(change: (bytes: Buffer) => void): Promise<void> {
    const bytes = await this.bytes();
    change(bytes);
    const handle = await this.disk.open(fileOf(1), 'w');
    await handle.write([bytes], 0);
    await handle.sync();
  }
}

const offsetOf = (payloads: readonly string[], index: number): number =>
  payloads.slice(0, index).reduce((at, payload) => at + HEAD + payload.length, 64);

const THREE = ['1 a', '2 b', '3 c'];
const LAST = offsetOf(THREE, 2);

describe('A flipped bit in the last record of an idle log', () => {
  for (const [what, at] of [
    ['header', LAST + 9],
    ['payload', LAST + HEAD + 1],
  ] as const) {
    it(`prevents the start after the process was killed (${what}); a repair reports the record`, async () => {
      const log = new Log();
      await log.writeUntilKilled(THREE, true);
      await log.change((bytes) => {
        bytes[at] = (bytes[at] as number) ^ 4;
      });
      await assert.rejects(log.open(), {
        kind: 'log_damaged',
        message: `commit log is corrupt: ${fileOf(1)} at offset ${LAST}: invalid record that was synced: its rows were acknowledged`,
      });
      assert.deepEqual(await log.replayed(true), ['1 a', '2 b']);
      const [loss] = log.losses;
      assert.deepEqual(
        [loss?.kind, loss?.offset, loss?.lostBytes, loss?.lostContent],
        ['moved_aside', LAST, HEAD + 3, what === 'payload' ? ['begins with 3'] : undefined],
      );
      assert.deepEqual(await log.replayed(), ['1 a', '2 b'], 'the repair is permanent');
    });
  }

  it('prevents the start as well if all of the record is zeros', async () => {
    const log = new Log();
    await log.writeUntilKilled(THREE, true);
    await log.change((bytes) => bytes.fill(0, LAST, LAST + HEAD + 3));
    await assert.rejects(log.open(), { kind: 'log_damaged' });
  });
});

describe('The mark of an idle log', () => {
  it('is no loss, also if the bytes after it are gone, and later records overwrite it', async () => {
    const log = new Log();
    const open = await log.open();
    const payloads: string[] = [];
    for (const payload of ['1', '2', '3']) {
      await open.append([Buffer.from(payload)]).durable;
      await log.idle();
      payloads.push(payload);
      const at = offsetOf(payloads, payloads.length);
      assert.equal((await log.bytes()).toString('latin1', at, at + 4), 'SL\0\0');
    }
    assert.equal((await log.bytes()).toString('latin1').split('SL\0\0').length, 2, 'only one mark');
    assert.deepEqual(await log.replayed(), payloads);
    assert.deepEqual(log.losses, []);
  });

  it('is not needed: without it, as after a power failure, the log is complete', async () => {
    const log = new Log();
    await log.writeUntilKilled(THREE, true);
    log.disk.crash();
    assert.deepEqual(await log.replayed(), THREE);
    // A part of the mark may have reached the disk.
    assert.ok(log.losses.every(({ kind }) => kind === 'tail_cleared'));
  });

  it('proves that the write which follows it was never acknowledged', async () => {
    const log = new Log();
    await log.writeUntilKilled(THREE, true);
    await log.change((bytes) => bytes.fill(0x61, LAST + HEAD + 3 + 20, LAST + HEAD + 3 + 60));
    assert.deepEqual(await log.replayed(), THREE);
    assert.deepEqual(
      log.losses.map(({ kind, quarantined }) => [kind, quarantined]),
      [['tail_unacknowledged', undefined]],
    );
  });

  it('is only accepted at its own offset', async () => {
    const log = new Log();
    await log.writeUntilKilled(THREE, true);
    const end = LAST + HEAD + 3;
    await log.change((bytes) => {
      bytes.copy(bytes, end + 8, end, end + 8);
      bytes.fill(0, LAST, end + 8);
    });
    assert.deepEqual(await log.replayed(), ['1 a', '2 b']);
    assert.deepEqual(
      log.losses.map(({ kind }) => kind),
      ['tail_cleared'],
    );
  });
});

describe('A corrupt last record of a log that was killed while it was busy', () => {
  const LONG = ['1 a', `2 ${'x'.repeat(3000)}`];
  const at = offsetOf(LONG, 1);

  it('prevents the start if all of its sectors were written', async () => {
    const log = new Log();
    await log.writeUntilKilled(LONG, false);
    await log.change((bytes) => {
      bytes[at + HEAD + 1000] = 0x79;
    });
    await assert.rejects(log.open(), {
      message: `commit log is corrupt: ${fileOf(1)} at offset ${at}: invalid record whose bytes were all written: it is corrupt, not incomplete`,
    });
    assert.deepEqual(await log.replayed(true), ['1 a']);
  });

  for (const [what, tear] of [
    ['a sector is missing', (bytes: Buffer) => bytes.fill(0, 2 * SECTOR, 3 * SECTOR)],
    ['its end is missing', (bytes: Buffer) => bytes.fill(0, at + HEAD + 2990)],
    ['its header is corrupt', (bytes: Buffer) => bytes.fill(1, at + 8, at + 9)],
  ] as const) {
    it(`is removed and quarantined if ${what}`, async () => {
      const log = new Log();
      await log.writeUntilKilled(LONG, false);
      await log.change(tear);
      const before = await log.bytes();
      const end = before.findLastIndex((byte) => byte !== 0) + 1;
      const where = {
        fileSystem: log.disk,
        directory: DIRECTORY,
        nodeId: NODE_ID,
        expected: NO_CHECKPOINT,
      };
      for await (const { damage, losses } of checkLog(where))
        assert.deepEqual([damage, losses.map(({ kind }) => kind)], [undefined, ['tail_cut']]);
      assert.deepEqual(
        await log.disk.list(DIRECTORY),
        ['000000000001.log'],
        'a check changes nothing',
      );
      assert.deepEqual(await log.replayed(), ['1 a']);
      const [loss] = log.losses;
      const kept = `${fileOf(1)}.tail.damaged`;
      assert.deepEqual([loss?.kind, loss?.offset, loss?.quarantined], ['tail_cut', at, kept]);
      assert.deepEqual(await log.bytes(kept), before.subarray(at, end));
    });
  }

  it('keeps the bytes of the newest three such logs', async () => {
    const log = new Log();
    for (let run = 1; run <= 5; run += 1) {
      const open = await log.open();
      await open.append([Buffer.from('x'.repeat(100))]).durable;
      const handle = await log.disk.open(fileOf(run), 'r+');
      await handle.write([Buffer.alloc(20)], 64 + HEAD + 80);
      await handle.sync();
    }
    await log.replayed();
    const names = (await log.disk.list(DIRECTORY)).filter((name) => name.endsWith('.damaged'));
    assert.deepEqual(
      names,
      [3, 4, 5].map((number) => `00000000000${number}.log.tail.damaged`),
    );
  });

  it('is removed without a copy if the disk is full', async () => {
    const log = new Log();
    await log.writeUntilKilled(LONG, false);
    await log.change((bytes) => bytes.fill(0, at + HEAD + 2990));
    log.disk.faults = { capacityBytes: 0 };
    assert.deepEqual(await log.replayed(), ['1 a']);
    assert.deepEqual(
      log.losses.map(({ kind, quarantined }) => [kind, quarantined]),
      [['tail_cut', undefined]],
    );
    assert.deepEqual(
      (await log.disk.list(DIRECTORY)).filter((name) => name.endsWith('.damaged')),
      [],
    );
  });
});
