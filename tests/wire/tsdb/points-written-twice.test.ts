// Source: tsdb-http, "Semantics of a line".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  FLUSH_AT_ONCE,
  rows,
  ServerInProcess,
  untilInFiles,
  type WriteApi,
  write,
} from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

const put = async (db: string, body: string, api: WriteApi = 'write_lp') =>
  assertEmpty(await write(server, { api, db }, body));
const all = (db: string) => rows(server, db, 'SELECT * FROM m ORDER BY time, t NULLS FIRST');
const T1 = '1970-01-01T00:00:00.000000001';
const T2 = '1970-01-01T00:00:00.000000002';

describe('a point with the tags and the time of another', () => {
  it('L-05 replaces its fields and keeps those it does not name, over requests and endpoints', async () => {
    await put('requests', 'm,t=a a=1,b="x" 1');
    await put('requests', 'm,t=a b="y",c=t 1', 'v1');
    await put('requests', 'm,t=a a=3 1', 'v2');
    assert.deepEqual(await all('requests'), [{ a: 3, b: 'y', c: true, t: 'a', time: T1 }]);
    assert.deepEqual(await rows(server, 'requests', 'SELECT count(*) AS n, sum(a) AS a FROM m'), [
      { n: 1, a: 3 },
    ]);
  });

  it('L-05 wins over earlier lines of one request', async () => {
    await put('request', 'm,t=a a=1,b=1 1\nm,t=b a=5 1\nm,t=a a=2 1\nm,t=a c=3 1');
    assert.deepEqual(await all('request'), [
      { a: 2, b: 1, c: 3, t: 'a', time: T1 },
      { a: 5, t: 'b', time: T1 },
    ]);
  });

  it('L-05 is another point with other tags, fewer tags or another time', async () => {
    await put('others', 'm,t=a a=1 1\nm,t=A a=2 1\nm,t=a,u=b a=3 1\nm a=4 1\nm,t=a a=5 2');
    assert.deepEqual(await rows(server, 'others', 'SELECT a, t, time, u FROM m ORDER BY a'), [
      { a: 1, t: 'a', time: T1 },
      { a: 2, t: 'A', time: T1 },
      { a: 3, t: 'a', time: T1, u: 'b' },
      { a: 4, time: T1 },
      { a: 5, t: 'a', time: T2 },
    ]);
  });

  it('L-05 is the same point with its tags in another order', async () => {
    await put('order', 'm,t=a,u=b a=1 1');
    await put('order', 'm,u=b,t=a b=2 1');
    assert.deepEqual(await all('order'), [{ a: 1, b: 2, t: 'a', time: T1, u: 'b' }]);
  });

  it('L-05 is the same point whatever precision its time is written in', async () => {
    await put('precision', 'm,t=a a=1 2000000000');
    const to = { db: 'precision', parameters: 'precision=s' };
    assertEmpty(await write(server, to, 'm,t=a b=2 2'));
    assert.deepEqual(await all('precision'), [{ a: 1, b: 2, t: 'a', time: '1970-01-01T00:00:02' }]);
  });

  it('L-05 replaces fields whatever their names are', async () => {
    await put('names', 'm,t=a _rank=5,_order=5,_is_older=t,a=1 1');
    await put('names', 'm,t=a _rank=1,_order=1,_is_older=f,a=2 1');
    assert.deepEqual(await all('names'), [
      { _is_older: false, _order: 1, _rank: 1, a: 2, t: 'a', time: T1 },
    ]);
  });

  it('L-05 merges with what was stored before a restart, and stays merged after one', async () => {
    await put('restart', 'm,t=a a=1,b=1 1');
    const { dataDir } = server;
    await server.stop();
    const flags = ['--without-auth', ...FLUSH_AT_ONCE];
    const flushed = await ServerInProcess.start({ dataDir, flags });
    await untilInFiles(flushed);
    await flushed.stop();
    await using again = await ServerInProcess.start({ dataDir });
    assertEmpty(await write(again, { db: 'restart' }, 'm,t=a b=2,c=3 1'));
    const expected = [{ a: 1, b: 2, c: 3, t: 'a', time: T1 }];
    assert.deepEqual(await rows(again, 'restart', 'SELECT * FROM m'), expected);
    await again.kill();
    await using last = await ServerInProcess.start({ dataDir });
    assert.deepEqual(await rows(last, 'restart', 'SELECT * FROM m'), expected);
  });
});
