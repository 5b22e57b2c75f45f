// Source: docs/WIDE-QUERIES.md, "Run a query".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PublishedHistory } from '../publish/history.js';
import { staleReason } from './stale-reason.js';

const NOW_NS = 1_600_000_000_000_000_000n;
const LATE = 'new rows, or new values of points, are not published yet';
const published = (mergedThrough: bigint) => ({
  state: { kind: 'published' } as const,
  history: { mergedThrough: String(mergedThrough) } as PublishedHistory,
});

it('accepts a table that contains all rows until the query began', () => {
  for (const [table, isCurrent] of [
    [published(0n), true],
    [published(NOW_NS), false],
    [published(NOW_NS + 1n), false],
    [undefined, true],
  ] as const)
    assert.equal(staleReason(table, { isCurrent, nowNs: NOW_NS }), undefined);
});

it('returns why rows are missing', () => {
  const waiting = { kind: 'waiting', reason: 'the disk has too little free space' } as const;
  for (const [table, reason] of [
    [published(NOW_NS - 1n), LATE],
    [undefined, 'it has never been published'],
    [{ state: { kind: 'empty' } as const, history: undefined }, 'it has never been published'],
    [{ ...published(NOW_NS), state: waiting }, waiting.reason],
  ] as const)
    assert.equal(staleReason(table, { isCurrent: false, nowNs: NOW_NS }), reason);
});
