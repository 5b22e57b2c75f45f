// Source: gamedata, section 2.8; docs/SECURITY.md, "The port".
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';

/** Looks into the texts of all items, for each of its terms. */
function searchOf(number: number): string {
  const terms = Array.from({ length: 20 }, (_, i) => `description:w${number}x${i}`);
  return `/api/items?q=${encodeURIComponent(terms.join(' OR '))}`;
}

/** Processor time of a process in ticks of the system. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

it('searches whose clients have left go on, and hold up everybody', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  // The limit would let fewer in; who has many addresses is not bound by it.
  await using server = await ServerProcess.start({
    flags: ['--services', 'gamedata', '--rate-limit-enabled', 'false'],
  });
  const { port } = new URL(server.url);
  for (let n = 0; n < 20; n += 1) await server.http.send(searchOf(n)); // compiled, texts read
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
