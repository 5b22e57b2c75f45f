#!/usr/bin/env node
// npm run bench:accounts [-- --seconds 8 --listed 1000000]
// Measures durable creates, retrievals and list pages of the accounts service. For comparison, the same number of clients inserts the same
// documents into a separate PostgreSQL cluster (Debian package `postgresql`) with synchronous_commit=on.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { root } from '../scripts/lib/root.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds, residentMib } from './process-figures.mjs';

/** Loads libraries that are dependencies of packages in this repository. */
const of = (name) => createRequire(path.join(root, 'packages', name, 'package.json'));
const { Pool } = of('webhooks')('undici');

const KEY = 'sk_test_0123456789abcdefghijABCDEFGH';
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    clients: { type: 'string', default: '64' },
    listed: { type: 'string', default: '0' },
    'no-postgres': { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const clientCount = Number(values.clients);

/** Size in bytes of the rows that one create writes: the account, its events and the stored idempotent response. */
const STORED_BYTES = [3900, 1700, 500];

const documentOf = (index) =>
  JSON.stringify({
    contact_email: `owner${index}@example.com`,
    display_name: `Shop ${index}`,
    dashboard: 'full',
    identity: {
      country: 'us',
      entity_type: 'company',
      business_details: {
        registered_name: `Shop ${index} Ltd`,
        address: {
          country: 'us',
          line1: '1 Main St',
          city: 'Springfield',
          state: 'IL',
          postal_code: '62701',
        },
      },
    },
    configuration: {
      customer: { capabilities: { automatic_indirect_tax: { requested: true } } },
      merchant: { capabilities: { card_payments: { requested: true } } },
    },
    defaults: { responsibilities: { fees_collector: 'vendor', losses_collector: 'vendor' } },
    metadata: { order: String(index) },
  });

/** Runs `clientCount` clients for `seconds`, each with one request at a time. */
async function load(name, request, pid) {
  const cpuBefore = pid === undefined ? 0 : cpuSeconds(pid);
  // The clients run on the same machine as the server, so their CPU time is reported too.
  const ownBefore = process.cpuUsage();
  const latencies = [];
  const endMs = performance.now() + seconds * 1000;
  let index = 0;
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: clientCount }, async () => {
      while (performance.now() < endMs) {
        const sentMs = performance.now();
        await request(index++);
        latencies.push(performance.now() - sentMs);
      }
    }),
  );
  const rate = latencies.length / ((performance.now() - startMs) / 1000);
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)].toFixed(1);
  const own = process.cpuUsage(ownBefore);
  const ownCpu = (own.user + own.system) / latencies.length;
  const cpu = pid === undefined ? 0 : ((cpuSeconds(pid) - cpuBefore) / latencies.length) * 1e6;
  console.log(
    `${name.padEnd(44)} ${rate.toFixed(0).padStart(7)} /s   p50 ${at(0.5)} ms   p99 ${at(0.99)} ms` +
      (pid === undefined ? '' : `   ${cpu.toFixed(0)} µs of CPU time each`) +
      `   clients ${ownCpu.toFixed(0)} µs`,
  );
  return rate;
}

async function benchPlinth() {
  const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-accounts-'));
  process.env.PLINTH_ACCOUNTS_BOOTSTRAP_KEYS = KEY;
  const server = await startServerProcess({
    dataDir,
    flags: ['--without-auth', '--services', 'accounts'],
  });
  const pool = new Pool(server.url, { connections: clientCount, pipelining: 1 });
  const call = async (method, path, body) => {
    const answer = await pool.request({
      method,
      path,
      headers: {
        authorization: `Bearer ${KEY}`,
        'stripe-version': '2026-10-28.endive',
        ...(body !== undefined && {
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        }),
      },
      ...(body !== undefined && { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
    return text;
  };
  try {
    await call(
      'PATCH',
      '/ops/v1/accounts/platforms/plat_default',
      '{"update_concurrency_limit":1000}',
    );
    const ids = [];
    await load(
      'Plinth: create',
      async (index) => {
        ids.push(JSON.parse(await call('POST', '/v2/core/accounts', documentOf(index))).id);
      },
      server.pid,
    );
    const some = () => ids[Math.floor(Math.random() * ids.length)];
    await load('Plinth: retrieve', () => call('GET', `/v2/core/accounts/${some()}`), server.pid);
    await load(
      'Plinth: retrieve with all sections',
      () =>
        call(
          'GET',
          `/v2/core/accounts/${some()}?include[0]=identity&include[1]=configuration.merchant&include[2]=configuration.customer&include[3]=requirements&include[4]=defaults`,
        ),
      server.pid,
    );
    await load(
      'Plinth: update',
      (index) => call('POST', `/v2/core/accounts/${some()}`, `{"metadata":{"n":"${index}"}}`),
      server.pid,
    );
    if (Number(values.listed) > 0) await benchLists(dataDir, call);
    console.log(`server memory ${residentMib(server.pid).toFixed(0)} MiB`);
  } finally {
    await pool.close();
    await server.stop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Measures pages of 100 at random positions of a long list. Accounts are created by copying rows, which takes seconds instead of an hour.
 * The copied bodies do not matter, because lists do not read them.
 */
async function benchLists(dataDir, call) {
  const wanted = Number(values.listed);
  const Database = of('kernel')('libsql');
  const database = new Database(path.join(dataDir, 'plinth.db'));
  database.pragma('busy_timeout = 60000');
  const { n } = database.prepare('select count(*) as n from accounts_accounts').get();
  const times = Math.ceil((wanted - n) / n);
  const copy = database.prepare(`insert into accounts_accounts
    (id, tenant, created_ms, is_closed, configurations, flags, head, due_ms, test_clock, invoice_prefix, body)
    with recursive rounds (round) as (select ? union all select round + 1 from rounds where round < ?)
    select id || 'x' || round, tenant, created_ms - round * 1000000, is_closed, (round % 8), flags, head, null,
      test_clock, null, '{}'
    from rounds cross join (select * from accounts_accounts order by rowid limit ${n})`);
  const step = Math.max(1, Math.floor(50_000 / n));
  for (let round = 1; round <= times; round += step) {
    copy.run(round, Math.min(round + step - 1, times));
  }
  const total = database.prepare('select count(*) as n from accounts_accounts').get().n;
  database.close();
  // Copying takes longer than the idle timeout of connections, so the first requests find their connections closed.
  await Promise.allSettled(
    Array.from({ length: clientCount * 2 }, () => call('GET', '/v2/core/accounts?limit=1')),
  );
  const measure = async (name, filter) => {
    const latencies = [];
    let url = `/v2/core/accounts?limit=100${filter}`;
    for (let page = 0; page < 400; page++) {
      const sentMs = performance.now();
      const { next_page_url } = JSON.parse(await call('GET', url));
      latencies.push(performance.now() - sentMs);
      url = next_page_url ?? `/v2/core/accounts?limit=100${filter}`;
    }
    latencies.sort((a, b) => a - b);
    console.log(
      `${name.padEnd(44)} p50 ${latencies[200].toFixed(1)} ms   p99 ${latencies[395].toFixed(1)} ms   of ${total} accounts`,
    );
  };
  await measure('Plinth: page of 100', '');
  await measure('Plinth: page of 100, recipients only', '&applied_configurations[0]=recipient');
  await measure('Plinth: page of 100, none closed', '&closed=true');
}

async function benchPostgres() {
  const bin = postgresFolder();
  if (bin === undefined) {
    console.log('PostgreSQL: not installed (Debian package postgresql)');
    return;
  }
  const pg = of('kernel')('pg');
  const cluster = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-pg-'));
  // PostgreSQL refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['postgres', cluster]);
  const as = (args) =>
    isRoot ? ['runuser', ['-u', 'postgres', '--', ...args]] : [args[0], args.slice(1)];
  const data = path.join(cluster, 'data');
  execFileSync(...as([path.join(bin, 'initdb'), '-D', data, '-A', 'trust', '-U', 'bench']), {
    stdio: 'ignore',
  });
  const port = 20_000 + (process.pid % 20_000);
  const [command, args] = as([
    path.join(bin, 'postgres'),
    ...['-D', data, '-p', String(port), '-k', cluster, '-h', '127.0.0.1'],
    ...['-c', 'synchronous_commit=on', '-c', 'fsync=on', '-c', 'max_connections=200'],
  ]);
  const server = spawn(command, args, { stdio: 'ignore' });
  const options = { host: '127.0.0.1', port, user: 'bench', database: 'postgres' };
  try {
    const clients = [];
    while (clients.length < clientCount) {
      const client = new pg.Client(options);
      try {
        await client.connect();
        clients.push(client);
      } catch {
        await sleep(200);
      }
    }
    await clients[0].query('create table documents (id text primary key, doc jsonb not null)');
    const free = [...clients];
    await load('PostgreSQL: insert', async (index) => {
      const client = free.pop();
      await client.query({
        name: 'insert',
        text: 'insert into documents values ($1, $2)',
        values: [randomUUID(), documentOf(index)],
      });
      free.push(client);
    });
    // A create stores more than the document: the idempotent response and the events.
    await clients[0].query(`create table accounts (id text primary key, body jsonb not null);
      create table events (id text primary key, account text not null, body jsonb not null);
      create table requests (key text primary key, response jsonb not null)`);
    const rows = `with account as (insert into accounts values ($1, $2)),
      event as (insert into events values ($3, $1, $4))
      insert into requests values ($5, $6)`;
    await load('PostgreSQL: insert of all rows of a create', async (index) => {
      const client = free.pop();
      const body = (size) => JSON.stringify({ index, text: randomBytes(size / 2).toString('hex') });
      const [account, event, answer] = STORED_BYTES.map(body);
      await client.query({
        name: 'rows',
        text: rows,
        values: [randomUUID(), account, randomUUID(), event, randomUUID(), answer],
      });
      free.push(client);
    });
    for (const client of clients) await client.end();
  } finally {
    // The program that switches the user may not forward the signal.
    const lock = path.join(data, 'postmaster.pid');
    if (server.exitCode === null && fs.existsSync(lock)) {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      process.kill(Number.parseInt(fs.readFileSync(lock, 'utf8'), 10), 'SIGINT');
      await ended;
    }
    fs.rmSync(cluster, { recursive: true, force: true });
  }
}

function postgresFolder() {
  const all = '/usr/lib/postgresql';
  if (!fs.existsSync(all)) return undefined;
  const newest = fs.readdirSync(all).sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : path.join(all, newest, 'bin');
}

await ensureBuiltOrExit();
console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.versions.node}, ${clientCount} clients`,
);
await benchPlinth();
if (!values['no-postgres']) await benchPostgres();
