// The name servers here run on loopback and implement the necessary part of RFC 1035.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { temporaryFolder } from '../testing/temporary-folder.js';
import { createHostLookup } from './host-lookup.js';

const NAME_ERROR = 3;
const queries: string[] = [];
const nameServer = createSocket('udp4');
let folder = '';
let servers: readonly string[] = [];

before(async () => {
  nameServer.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    queries.push(name);
    if (name.endsWith('.silent.example') || (name === 'half.example' && type === 28)) return;
    const isKnown = ['one.example', 'half.example', 'late.example'].includes(name);
    const response = responseTo(query, end, isKnown ? A[type] : undefined);
    const delayMs = name === 'late.example' && type === 1 ? 200 : 0;
    setTimeout(() => nameServer.send(response, port, address), delayMs);
  });
  nameServer.bind(0, '127.0.0.1');
  await once(nameServer, 'listening');
  servers = [`127.0.0.1:${nameServer.address().port}`];
  folder = await temporaryFolder();
  await writeFile(
    join(folder, 'hosts'),
    '# names\n192.0.2.7 Listed.example alias.example # of this machine\n2001:db8::7 listed.example\n',
  );
});
after(async () => {
  nameServer.close();
});

const A: Readonly<Record<number, readonly number[]>> = {
  1: [192, 0, 2, 1],
  28: [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
};
const lookupHere = (timeoutMs = 300) =>
  createHostLookup({ servers, timeoutMs, hostsFile: join(folder, 'hosts') });

it('finds addresses of both families, IPv4 first', async () => {
  assert.deepEqual(await lookupHere()('one.example'), [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
});

it('does not wait for a family without a response', async () => {
  assert.deepEqual(await lookupHere(60_000)('half.example'), [{ address: '192.0.2.1', family: 4 }]);
});

it('waits for IPv4 when IPv6 comes first', async () => {
  assert.deepEqual(await lookupHere(1000)('late.example'), [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
});

it('runs two system lookups at a time, and rejects names beyond the queue limit', async () => {
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const lookup = createHostLookup({
    servers,
    hostsFile: join(folder, 'hosts'),
    async system() {
      running++;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running--;
      return [{ address: '192.0.2.9', family: 4 }];
    },
  });
  let refusedCount = 0;
  const outcomes = Promise.allSettled(
    Array.from({ length: 300 }, async (_, i) => {
      await lookup(`unknown${i}`).catch((error: unknown) => {
        refusedCount++;
        throw error;
      });
    }),
  );
  let isOver = false;
  void outcomes.then(() => {
    isOver = true;
  });
  // Two run and 256 wait: none is released before the others are refused.
  while (!isOver) {
    if (refusedCount >= 42) release.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(most, 2);
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  assert.ok(refused.length >= 42 && refused.length < 100, `${refused.length} refused`);
});

it('reads the hosts file before it queries a name server', async () => {
  const lookup = lookupHere();
  assert.deepEqual(await lookup('listed.EXAMPLE'), [
    { address: '192.0.2.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ]);
  assert.deepEqual(await lookup('alias.example'), [{ address: '192.0.2.7', family: 4 }]);
  assert.ok(!queries.includes('alias.example'));
});

it('times out for an unresponsive name server, without blocking a thread', async () => {
  await assert.rejects(lookupHere()('a.silent.example'), { code: 'ETIMEOUT' });
});

it('resolves other names while twenty wait for unresponsive servers', async () => {
  const lookup = lookupHere(400);
  let ended = 0;
  for (let i = 0; i < 20; i++) {
    lookup(`n${i}.silent.example`).then(
      () => ended++,
      () => ended++,
    );
  }
  const [found] = await lookup('one.example');
  assert.equal(found?.address, '192.0.2.1');
  // `localhost` is only known to the system, not to this hosts file or name server.
  assert.ok((await lookup('localhost')).length > 0);
  assert.equal(ended, 0);
});

it('shares concurrent lookups of one name, and looks it up again later', async () => {
  const lookup = lookupHere();
  queries.length = 0;
  const [first, second] = await Promise.all([lookup('one.example'), lookup('one.example')]);
  assert.equal(first, second);
  assert.equal(queries.length, 2, 'one for each family');
  assert.notEqual(await lookup('one.example'), first);
});

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function responseTo(query: Buffer, end: number, address: readonly number[] | undefined): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head[2] = 0x81;
  head[3] = 0x80 | (address === undefined ? NAME_ERROR : 0);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  head.fill(0, 8, 12);
  if (address === undefined) return head;
  // A pointer to the name of the query, its type and class, a TTL of one hour, the size of the address.
  const type = head.subarray(end - 4, end);
  const record = [0xc0, 12, ...type, 0, 0, 0x0e, 0x10, 0, address.length, ...address];
  return Buffer.concat([head, Buffer.from(record)]);
}
