import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount, SeededRandom, SimFileSystem } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { FreeRegions, type Region } from './free-regions.js';
import { type TextPiece, TextStore } from './text-store.js';

const PIECES = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3000 }), {
  minLength: 1,
  maxLength: 60,
});
const READS = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 100 });

describe('TextStore', () => {
  it('returns stored texts from memory, from the file, and after failed writes', async () => {
    const limits = fc.constantFrom(0, 20_000, 1_000_000);
    const faults = fc.constantFrom({}, { writeIsShort: 0.3 }, { capacityBytes: 10_000 });
    await fc.assert(
      fc.asyncProperty(PIECES, READS, limits, faults, async (pieces, reads, limit, faulty) => {
        const warnings: object[] = [];
        const store = new TextStore({
          fileSystem: new SimFileSystem(new SeededRandom(1), faulty),
          folder: '/data/gamedata',
          log: { warn: (fields: object) => warnings.push(fields) } as never, // the only method it calls
          memoryLimitBytes: limit,
        });
        const held: TextPiece[] = [];
        for (const bytes of pieces) held.push(await store.put(Buffer.from(bytes)));
        const total = pieces.reduce((sum, { length }) => sum + length, 0);
        if (total <= limit || Object.keys(faulty).length === 0) assert.equal(warnings.length, 0);
        const check = (index: number, start: number, end: number): void => {
          const bytes = pieces[index] ?? new Uint8Array();
          assert.deepEqual(
            [...(held[index]?.view(start, end) ?? [])],
            [...bytes.subarray(start, end)],
          );
        };
        for (const [piece, from, length] of reads) {
          const index = piece % pieces.length;
          const size = pieces[index]?.length ?? 0;
          const start = from % size;
          check(index, start, Math.min(size, start + length));
        }
        // In order, as in a full scan.
        for (const [index, { length: size }] of pieces.entries()) {
          for (let start = 0; start < size; start += 700)
            check(index, start, Math.min(size, start + 700));
        }
        await store.close();
      }),
      { numRuns: caseCount(60) },
    );
  });

  it('logs only the first failed write', async () => {
    const warnings: object[] = [];
    const store = new TextStore({
      fileSystem: new SimFileSystem(new SeededRandom(1), { capacityBytes: 10 }),
      folder: '/data/gamedata',
      log: { warn: (fields: object) => warnings.push(fields) } as never, // the only method it calls
      memoryLimitBytes: 0,
    });
    const pieces: TextPiece[] = [];
    for (let n = 0; n < 50; n += 1) pieces.push(await store.put(Buffer.from(`a longer text ${n}`)));
    assert.equal(warnings.length, 1);
    assert.equal(pieces[49]?.view(0, 16).toString(), 'a longer text 49');
    await store.close();
  });

  it('leaves no file name in the folder', async () => {
    const fileSystem = new SimFileSystem(new SeededRandom(1));
    const folder = '/data/gamedata';
    const log = {} as never; // the test expects no log lines
    const store = new TextStore({ fileSystem, folder, log, memoryLimitBytes: 0 });
    const piece = await store.put(Buffer.from('a text'));
    assert.deepEqual(await fileSystem.list(folder), []);
    assert.equal(piece.view(2, 6).toString(), 'text');
    await store.close();
  });
});

describe('FreeRegions', () => {
  it('never overlaps regions, and is empty after all are released', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 50 })), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const free = new FreeRegions();
        const taken: Region[] = [];
        for (const [isTake, amount] of list) {
          if (isTake) {
            const region = free.take(amount);
            assert.equal(region.end - region.start, amount);
            for (const { start, end } of taken) {
              assert.ok(region.end <= start || end <= region.start, 'regions overlap');
            }
            taken.push(region);
          } else {
            const [region] = taken.splice(amount % Math.max(1, taken.length), 1);
            if (region !== undefined) free.give(region);
          }
        }
        for (const region of taken) free.give(region);
        assert.deepEqual(free.take(10_000), { start: 0, end: 10_000 });
      }),
    );
  });
});
