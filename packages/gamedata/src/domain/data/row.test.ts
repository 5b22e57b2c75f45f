import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount, SeededRandom, SimFileSystem } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { TextStore } from '../../storage/text-store.js';
import { Row } from './row.js';

const makeRow = (value: string, index: number): Row =>
  new Row({ id: `i${index}`, slug: `s${index}`, rev: 1, text: JSON.stringify(value), columns: {} });

describe('Row', () => {
  it('keeps its text when packed with others, and finds only its own substrings', async () => {
    const values = fc.array(fc.string({ unit: 'binary' }), { minLength: 16, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(values, async (texts) => {
        const store = new TextStore({
          fileSystem: new SimFileSystem(new SeededRandom(1)),
          folder: '/texts',
          log: {} as never, // the test expects no log lines
          memoryLimitBytes: texts.length % 2 === 0 ? 0 : 1_000_000,
        });
        const rows = texts.map(makeRow);
        await Row.pack(rows.slice(0, 20), store);
        await Row.pack(rows, store);
        for (const [index, row] of rows.entries()) {
          const text = JSON.stringify(texts[index]);
          assert.equal(row.text, text);
          assert.equal(row.mentions(text), true);
          assert.equal(row.mentions(`${text}${JSON.stringify(texts[index + 1] ?? '')}`), false);
        }
      }),
      { numRuns: caseCount(50) },
    );
  });
});
