import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SystemClock } from './system-clock.js';
import { whenIdle } from './when-idle.js';

const clock = new SystemClock();
const { signal } = new AbortController();

/** Keeps the thread busy; timers run in between. */
async function work(isEnough: () => boolean): Promise<void> {
  while (!isEnough()) await setImmediate();
}

describe('whenIdle', () => {
  it('waits while the thread is busy, and resolves soon after', async () => {
    let isCalm = false;
    const calm = whenIdle({ clock, stepMs: 20, longestMs: 60_000, signal }).then(() => {
      isCalm = true;
    });
    const endMs = performance.now() + 200;
    await work(() => performance.now() > endMs);
    assert.equal(isCalm, false);
    await calm;
  });

  it('waits at most for the limit', async () => {
    let isCalm = false;
    const startMs = performance.now();
    void whenIdle({ clock, stepMs: 20, longestMs: 100, signal }).then(() => {
      isCalm = true;
    });
    await work(() => isCalm);
    assert.ok(performance.now() - startMs >= 99);
  });

  it('rejects with the reason of its signal', async () => {
    const abort = new AbortController();
    const calm = whenIdle({ clock, stepMs: 20, longestMs: 100, signal: abort.signal });
    abort.abort(new Error('closing'));
    await assert.rejects(calm, /closing/);
  });
});
