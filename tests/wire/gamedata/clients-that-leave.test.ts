// Source: gamedata, sections 2.8 and 8.1; docs/SECURITY-NETWORK.md, "Requests": work whose client has left, or is long.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ServerProcess, WITH_SAMPLE_DATA } from '../../harness/index.js';
import { done, edit, EDITOR_TOKEN as TOKEN } from './shared-nodes.js';

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const MAX_RECORD_COUNT = 60_000;

const itemsOf = (count: number, name: string): object => ({
  ...{ format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] },
  kinds: {
    items: Array.from({ length: count }, (_, n) => ({ id: `i${n}`, name, shortName: 's' })),
  },
});

/** A search in the text of all items for each of its terms. */
function searchOf(number: number): string {
  const terms = Array.from({ length: 20 }, (_, i) => `description:w${number}x${i}`);
  return `/api/items?q=${encodeURIComponent(terms.join(' OR '))}`;
}

/** CPU time of a process in system ticks. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

describe('long work', () => {
  let server: ServerProcess;
  before(async () => {
    // Own server: allows large imports, and has no rate limits, which would not bind a client with
    // many addresses anyway.
    server = await ServerProcess.start({
      flags: [
        ...['--services', 'gamedata', '--rate-limit-enabled', 'false'],
        ...['--gamedata-max-import-records', String(MAX_RECORD_COUNT)],
      ],
      env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
    });
  });
  after(() => server.close());

  it('searches whose clients have left go on, and hold up everybody', {
    skip: process.platform !== 'linux' && 'needs /proc',
  }, async () => {
    const { port } = new URL(server.url);
    for (let n = 0; n < 20; n += 1) await server.http.send(searchOf(n)); // warms up compiled code and search data
    const startTicks = await ticksOf(server.pid);
    const COUNT = 100;
    for (let n = 0; n < COUNT; n += 1) {
      assert.equal((await server.http.send(searchOf(1000 + n))).status, 200);
    }
    const each = ((await ticksOf(server.pid)) - startTicks) / COUNT;

    const before = await ticksOf(server.pid);
    const CLOSED = 400;
    for (let n = 0; n < CLOSED; n += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET ${searchOf(2000 + n)} HTTP/1.1\r\nHost: x\r\n\r\n`, () => socket.destroy());
    }
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal((await server.http.send('/api/levels')).status, 200);
    const spent = (await ticksOf(server.pid)) - before;
    assert.ok(spent < (each * CLOSED) / 4, `${spent} ticks; ${each} for one that is waited for`);
  });

  it('an import of many records with one name took the square of their number', {
    timeout: 60_000, // 120 s were not enough
  }, async () => {
    const body = itemsOf(MAX_RECORD_COUNT, 'Same name');
    const path = 'import?mode=merge&dryRun=true';
    let others = 0;
    let isDone = false;
    const importing = done(server, 'POST', path, body).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      assert.equal((await server.http.send('/api/items?limit=1')).status, 200);
      others += 1;
    }
    const { json } = await importing;
    assert.equal(Reflect.get(Object(json['counts']), 'items'), MAX_RECORD_COUNT);
    assert.ok(others > 10, `${others} others were answered meanwhile`);
  });

  it('an import went on for minutes after its client had left, and was stored', async () => {
    // An import may complete before its client disconnects; the test then tries again.
    const isStored = async (name: string): Promise<boolean> => {
      const left = request(`${server.url}/api/editor/import`, { method: 'POST', headers: HEADERS });
      left.on('error', () => undefined);
      left.end(JSON.stringify(itemsOf(MAX_RECORD_COUNT, name)));
      await once(left, 'finish');
      // The import is being sent to its thread.
      assert.equal((await server.http.send('/api/items?limit=1')).status, 200);
      left.destroy();
      const after = { id: name, name: 'After', shortName: 'a', category: 'key' };
      await done(server, 'POST', 'items', after);
      const { json } = await edit(server, 'GET', 'items/i0');
      return json['name'] === name;
    };
    let count = 0;
    while (await isStored(`left-${count}`)) assert.ok(++count < 5);
  });
});
