import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, SeededRandom } from '@plinth/kernel/testing';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { MAX_LOGGED_TEXT_LENGTH, QueryLog } from './query-log.js';

const START_MS = 1_700_000_000_000;

function open(maxEntryCount: number) {
  const clock = new ManualClock(START_MS);
  const log = new QueryLog({ maxEntryCount, clock, random: new SeededRandom(1, clock) });
  return { clock, log, begin: (text: string) => log.begin({ language: 'sql', text, owner: '' }) };
}

const segment = (partitionStartNs: bigint) => ({ partitionStartNs }) as Segment; // the log reads only this property

describe('QueryLog', () => {
  it('keeps the last entries, oldest first', () => {
    const { log, begin } = open(3);
    const texts = () => log.entries().map((query) => query.properties.text);
    assert.deepEqual(texts(), []);
    begin('a');
    begin('b');
    assert.deepEqual(texts(), ['a', 'b']);
    for (const text of ['c', 'd', 'e']) begin(text);
    assert.deepEqual(texts(), ['c', 'd', 'e']);
    begin('f');
    assert.deepEqual(texts(), ['d', 'e', 'f']);
  });

  it('cuts long query texts', () => {
    const { log, begin } = open(1);
    begin('x'.repeat(MAX_LOGGED_TEXT_LENGTH + 1));
    assert.equal(log.entries()[0]?.properties.text, 'x'.repeat(MAX_LOGGED_TEXT_LENGTH));
  });

  it('gives each entry a unique id and its start time', async () => {
    const { log, clock, begin } = open(2);
    begin('a');
    await clock.advanceMs(1500);
    begin('b');
    const [a, b] = log.entries();
    assert.notEqual(a?.properties.id, b?.properties.id);
    assert.equal(a?.properties.issueNs, BigInt(START_MS) * 1_000_000n);
    assert.equal(b?.properties.issueNs, BigInt(START_MS + 1500) * 1_000_000n);
  });
});

describe('LoggedQuery', () => {
  it('records the phases and their durations', async () => {
    const { clock, begin } = open(1);
    const query = begin('q');
    assert.deepEqual([query.phase, query.isRunning], ['received', true]);
    await clock.advanceMs(1);
    query.slotAcquired();
    query.planned();
    assert.equal(query.phase, 'logically_planned');
    await clock.advanceMs(10);
    query.prepared([[segment(0n), segment(0n), segment(5n)], [segment(0n)], []]);
    assert.equal(query.phase, 'execution_permit');
    assert.deepEqual([query.fileCount, query.partitionCount], [4, 3]);
    await clock.advanceMs(100);
    query.chunkReturned();
    await clock.advanceMs(1000);
    query.chunkRequested();
    await clock.advanceMs(200);
    assert.equal(query.endToEndNs, undefined);
    query.ended('success');
    assert.deepEqual([query.phase, query.isRunning], ['success', false]);
    assert.equal(query.permitNs, 1_000_000n);
    assert.equal(query.planNs, 10_000_000n);
    assert.equal(query.executeNs, 1_300_000_000n);
    assert.equal(query.computeNs, 300_000_000n);
    assert.equal(query.endToEndNs, 1_311_000_000n);
  });

  it('adds up returned rows and keeps the peak of reserved memory', () => {
    const query = open(1).begin('q');
    assert.deepEqual([query.rowCount, query.peakReservedBytes], [0, 0]);
    query.returned(3);
    query.returned(4);
    for (const sizeBytes of [10, 20, -25, 15, -20]) query.reserved(sizeBytes);
    assert.deepEqual([query.rowCount, query.peakReservedBytes], [7, 30]);
  });

  it('ends once: later calls do not change the outcome', async () => {
    const { clock, begin } = open(1);
    const query = begin('q');
    await clock.advanceMs(5);
    query.ended('fail');
    await clock.advanceMs(5);
    query.ended('cancel');
    assert.equal(query.phase, 'fail');
    assert.equal(query.endToEndNs, 5_000_000n);
    assert.deepEqual([query.planNs, query.executeNs, query.computeNs], Array(3).fill(undefined));
  });

  it('counts the wait for a disconnected client only until the end of the query', async () => {
    const { clock, begin } = open(1);
    const query = begin('q');
    query.slotAcquired();
    query.prepared([]);
    await clock.advanceMs(3);
    query.chunkReturned();
    await clock.advanceMs(50);
    query.ended('cancel');
    assert.equal(query.computeNs, 3_000_000n);
  });
});
