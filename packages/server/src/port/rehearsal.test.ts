import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger, type PlainAnswer, type PlainRoute, SystemClock } from '@plinth/kernel';
import { openRehearsal } from './rehearsal.js';

const OK = { status: 200, headers: [] } as const;

function routeOf(path: string, asked: string[], answer: () => PlainAnswer): PlainRoute {
  return {
    ...{ path, methods: ['GET'], front: 'server' },
    async answer({ url }) {
      asked.push(url);
      return answer();
    },
  };
}

async function* pieces(count: number): AsyncGenerator<Buffer, void, undefined> {
  for (let i = 0; i < count; i++) yield Buffer.alloc(40_000, 'x');
}

describe('openRehearsal', () => {
  it('waits for the end of each answer, and says when one is not what it should be', async () => {
    const asked: string[] = [];
    let takenCount = 0;
    const routes = [
      routeOf('/whole', asked, () => ({ ...OK, body: Buffer.from('{}') })),
      routeOf('/long', asked, () => ({
        ...{ ...OK, body: Buffer.alloc(70_000, 'y') },
        rest: (async function* () {
          yield* pieces(20);
          takenCount++;
        })(),
      })),
      routeOf('/wrong', asked, () => ({ ...OK, status: 400, body: Buffer.from('no') })),
    ];
    const rehearsal = await openRehearsal(routes, {
      clock: new SystemClock(),
      log: createLogger({ level: 'silent' }),
      headerLines: () => 'x-of: rehearsal\r\n',
    });
    try {
      await rehearsal.ask('/whole?n=1');
      await rehearsal.ask('/long?n=2');
      assert.equal(takenCount, 1);
      await assert.rejects(rehearsal.ask('/wrong'), /an answer of 400/);
      await rehearsal.ask('/whole?n=3');
      assert.deepEqual(asked, ['/whole?n=1', '/long?n=2', '/wrong', '/whole?n=3']);
      // What no plain route answers has nobody who would.
      await assert.rejects(rehearsal.ask('/elsewhere'), /closed/);
    } finally {
      rehearsal.close();
    }
  });
});
