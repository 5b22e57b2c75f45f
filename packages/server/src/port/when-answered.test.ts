import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LONGEST_ANSWER_WAIT_MS, whenAnswered } from './when-answered.js';

/** A clock that stands still but for those who sleep, and a server whose state changes at set times. */
class Scene {
  nowMs = 0;
  readonly clock = {
    monotonicMs: () => this.nowMs,
    sleep: async (durationMs: number) => {
      this.nowMs += durationMs;
    },
  };
  readonly plainSide: { readonly isAnswering: boolean };
  readonly port: { isWaitedFor(): boolean };

  constructor({ answeredAtMs = 0, waitedForAtMs = Number.POSITIVE_INFINITY }) {
    const isAnswering = (): boolean => this.nowMs < answeredAtMs;
    this.plainSide = {
      get isAnswering() {
        return isAnswering();
      },
    };
    this.port = { isWaitedFor: () => this.nowMs >= waitedForAtMs };
  }
}

describe('routes of the next service', () => {
  it('wait for nothing when no request is being answered', async () => {
    const scene = new Scene({});
    await whenAnswered(scene);
    assert.equal(scene.nowMs, 0);
    await whenAnswered({ ...scene, plainSide: undefined });
  });

  it('wait until requests are answered', async () => {
    const scene = new Scene({ answeredAtMs: 30 });
    await whenAnswered(scene);
    assert.equal(scene.nowMs, 30);
  });

  it('wait no longer when somebody asks for routes that are not there', async () => {
    const scene = new Scene({ answeredAtMs: 30, waitedForAtMs: 7 });
    await whenAnswered(scene);
    assert.equal(scene.nowMs, 7);
  });

  it('wait for long requests up to a bound', async () => {
    const scene = new Scene({ answeredAtMs: 60_000 });
    await whenAnswered(scene);
    assert.equal(scene.nowMs, LONGEST_ANSWER_WAIT_MS);
  });
});
