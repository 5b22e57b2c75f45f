import assert from 'node:assert/strict';
import type { Http2Session } from 'node:http2';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RequestQueue } from './request-queue.js';

/** Each request takes a millisecond of a clock that only requests advance. */
class Work {
  nowMs = 0;
  readonly begun: string[] = [];
  readonly turns = new RequestQueue(() => this.nowMs);
  readonly #sessions = new Map<string, Http2Session>();
  readonly takenBack = new Set<string>();

  take(connection: string, count: number): void {
    // Only compared by identity.
    const session = this.#sessions.get(connection) ?? ({} as Http2Session);
    this.#sessions.set(connection, session);
    for (let i = 0; i < count; i++) {
      const name = `${connection}${i}`;
      this.turns.take(session, {
        isWanted: () => !this.takenBack.has(name),
        begin: () => {
          this.nowMs++;
          this.begun.push(name);
        },
      });
    }
  }
}

describe('RequestQueue', () => {
  it('starts a single request at once', () => {
    const work = new Work();
    work.take('a', 3);
    assert.deepEqual(work.begun, ['a0', 'a1', 'a2']);
  });

  it('starts bursts over several ticks, with connections in rotation', async () => {
    const work = new Work();
    work.take('a', 100);
    assert.equal(work.begun.length, 5);
    work.take('b', 2);
    work.take('c', 1);
    assert.equal(work.begun.length, 5);
    await setImmediate();
    assert.deepEqual(work.begun.slice(5), ['a5', 'b0', 'c0', 'a6', 'b1']);
    for (let turn = 0; turn < 30; turn++) await setImmediate();
    assert.equal(work.begun.length, 103);
    work.take('d', 1);
    assert.equal(work.begun.at(-1), 'd0');
  });

  it('skips canceled requests', async () => {
    const work = new Work();
    work.take('a', 50);
    for (let i = 5; i < 49; i++) work.takenBack.add(`a${i}`);
    await setImmediate();
    assert.deepEqual(work.begun.slice(5), ['a49']);
    work.takenBack.add('b0');
    work.take('b', 2);
    assert.equal(work.begun.at(-1), 'b1');
  });
});
