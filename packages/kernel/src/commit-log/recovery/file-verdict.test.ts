// Source: docs/formats/commit-log.md, "Reading".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verdictOf } from './file-verdict.js';
import type { CheckedFile } from './log-file-check.js';

/** The last file, with bytes after its last good record that nothing explains. */
const TORN: CheckedFile = {
  ...{ header: undefined, isHeaderIntact: true, nextSequence: 5, goodBytes: 100, sizeBytes: 120 },
  ...{ hasBytesAfter: false, isFollowed: false, isWritten: false, endMark: undefined },
  ...{ isUnacknowledged: false, isRemnant: false },
};
const INTACT: CheckedFile = { ...TORN, sizeBytes: 100 };
const ENDED_AT_8 = { file: 1, sequence: 8, checksum: undefined };
const ENDED_AT_5 = { ...ENDED_AT_8, sequence: 5 };

const CASES: readonly [
  string,
  Partial<CheckedFile>,
  { readonly isLast?: boolean; readonly end?: typeof ENDED_AT_5 },
  string,
][] = [
  ['nothing else', {}, {}, 'torn'],
  ['a complete last stop', {}, { end: ENDED_AT_5 }, 'torn'],
  ['a mark of an unacknowledged write', { isUnacknowledged: true }, {}, 'unacknowledged'],
  ['both explanations', { isUnacknowledged: true, isRemnant: true }, {}, 'unacknowledged'],
  ['no part of a record', { isRemnant: true }, {}, 'remnant'],
  ['later records', { isFollowed: true }, {}, 'invalid record before valid records'],
  [
    'all sectors written',
    { isWritten: true },
    {},
    'invalid record whose bytes were all written: it is corrupt, not incomplete',
  ],
  [
    'a mark of an idle log',
    { isFollowed: true, endMark: 'sync' },
    {},
    'invalid record that was synced: its rows were acknowledged',
  ],
  [
    'a mark of a clean stop',
    { isFollowed: true, endMark: 'stop' },
    {},
    'invalid record before the end recorded at a clean stop',
  ],
  [
    'fewer records than at the last stop',
    { isUnacknowledged: true, isRemnant: true },
    { end: ENDED_AT_8 },
    'invalid record before the end recorded at a clean stop',
  ],
  ['a later file', {}, { isLast: false }, 'invalid record in a file before the last one'],
  [
    'a later file and a remnant',
    { isRemnant: true, isUnacknowledged: true },
    { isLast: false },
    'invalid record in a file before the last one',
  ],
  ['an incomplete header', { isHeaderIntact: false, goodBytes: 0, sizeBytes: 0 }, {}, 'torn'],
  [
    'an invalid header before records',
    { isHeaderIntact: false, goodBytes: 0, isFollowed: true },
    {},
    'invalid file header before valid records',
  ],
];

describe('bytes after the last good record', () => {
  for (const [name, more, context, expected] of CASES) {
    it(`are ${expected}: ${name}`, () => {
      const verdict = verdictOf(
        { ...TORN, ...more },
        { isLast: context.isLast ?? true, end: context.end },
      );
      assert.equal(verdict.kind === 'damaged' ? verdict.why : verdict.kind, expected);
    });
  }

  it('do not exist in an intact file, wherever it is', () => {
    for (const isLast of [true, false])
      for (const end of [undefined, ENDED_AT_5, ENDED_AT_8])
        assert.deepEqual(verdictOf(INTACT, { isLast, end }), { kind: 'intact' });
  });
});
