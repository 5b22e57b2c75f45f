// Source: Prometheus' rules for names and units (`promtool check metrics`), docs/MONITORING.md, "Scrape metrics".
// Own process: its open files are limited.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HttpClient,
  type OwnServer,
  ServerInProcess,
  ServerProcess,
  testCertificate,
  tlsFlags,
  until,
} from '../../harness/index.js';
import { NO_PROMETHEUS } from './prometheus.js';

const LINUX_ONLY = process.platform === 'linux' ? false : 'reads /proc, needs 127.0.0.2';

const TLS = testCertificate('first');

/** Reads the page over plain HTTP with a keep-alive client. */
async function pageOf(server: OwnServer): Promise<string> {
  if (server.url.startsWith('http:')) return (await server.http.send('/metrics')).text;
  const http = new HttpClient(server.url, TLS.ca);
  try {
    return (await http.send('/metrics')).text;
  } finally {
    http.close();
  }
}

function seriesValue(page: string, series: string): number | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** Opens a connection that the server may refuse at any moment. */
async function open(server: OwnServer, localAddress: string): Promise<Socket> {
  const { port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

const closed = async (socket: Socket): Promise<void> => {
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
};

/** Waits until the series has the value: connections are refused a moment after they are accepted. */
async function untilValue(server: OwnServer, series: string, expected: number): Promise<void> {
  let value: number | undefined;
  for (let tries = 0; tries < 100; tries++) {
    value = seriesValue(await pageOf(server), series);
    if (value === expected) return;
    await sleep(20);
  }
  assert.equal(value, expected, series);
}

const refusedBy = (reason: string): string =>
  `plinth_connections_refused_total{reason="${reason}"}`;

describe('the page of metrics', () => {
  it('of a server in use has no complaint of promtool', { skip: NO_PROMETHEUS }, async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', ...tlsFlags(TLS)],
    });
    const http = new HttpClient(server.url, TLS.ca);
    await http.send('/api/v3/write_lp?db=d', { body: 'm,t=a v=1 1' });
    await http.send('/api/v3/query_sql?db=d&q=SELECT+1');
    http.close();
    const input = await pageOf(server);
    assert.ok(input.includes('http_requests_total{'), input);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    assert.equal(`${stdout}${stderr}`, '');
    assert.equal(status, 0);
  });

  it('counts open files as the system does', { skip: LINUX_ONLY }, async () => {
    await using server = await ServerProcess.start({
      flags: ['--without-auth', '--services', 'tsdb'],
      limits: 'ulimit -n 700',
    });
    const page = await pageOf(server);
    assert.equal(seriesValue(page, 'process_max_fds'), 700);
    // A server that just started still loads modules, so the two counts agree only once it is idle.
    const agreesWithSystem = async (least: number): Promise<boolean> => {
      const shown = seriesValue(await pageOf(server), 'process_open_fds') ?? 0;
      const open = (await readdir(`/proc/${server.pid}/fd`)).length;
      return Math.abs(shown - open) <= 3 && shown >= least;
    };
    await until(() => agreesWithSystem(1), 'the open files of the process');
    const sockets = await Promise.all(Array.from({ length: 50 }, () => open(server, '127.0.0.2')));
    await sleep(100);
    await until(() => agreesWithSystem(50), 'the files with 50 more connections');
    for (const socket of sockets) socket.destroy();
  });

  it('has the expiry of the certificate, and none without TLS', async () => {
    const series = 'plinth_tls_certificate_expiry_timestamp_seconds';
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb', ...tlsFlags(TLS)],
    });
    const openssl = spawnSync('openssl', ['x509', '-enddate', '-noout', '-in', TLS.certFile]);
    const expiry = Date.parse(String(openssl.stdout).replace('notAfter=', '').trim());
    assert.equal(seriesValue(await pageOf(server), series), expiry / 1000);
    await using plain = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb'],
    });
    assert.equal(seriesValue(await pageOf(plain), series), undefined);
  });

  it('has the age of the newest backup of the schedule, and none before it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-age-'));
    try {
      const flags = ['--without-auth', '--services', 'tsdb'];
      {
        await using server = await ServerInProcess.start({ flags });
        assert.equal(seriesValue(await pageOf(server), 'plinth_backup_age_seconds'), undefined);
      }
      await using server = await ServerInProcess.start({
        flags: [...flags, '--backup-schedule', '* * * * * *', '--backup-folder', folder],
      });
      let age: number | undefined;
      for (let tries = 0; age === undefined && tries < 200; tries++) {
        await sleep(50);
        age = seriesValue(await pageOf(server), 'plinth_backup_age_seconds');
      }
      assert.ok(age !== undefined && age >= 0 && age < 20, String(age));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('connections that are refused', { skip: LINUX_ONLY }, () => {
  it('are counted by reason and named in the log once', async () => {
    await using server = await ServerInProcess.start({
      flags: [
        ...['--without-auth', '--services', 'tsdb', '--server-max-connections-per-address', '3'],
        ...['--server-proxy-protocol', 'true', '--server-trusted-proxies', '127.0.0.4/32'],
      ],
    });
    for (const reason of ['server_limit', 'address_limit', 'proxy_header', 'tls_handshake']) {
      assert.equal(seriesValue(await pageOf(server), refusedBy(reason)), 0, reason);
    }
    const kept = await Promise.all(Array.from({ length: 3 }, () => open(server, '127.0.0.2')));
    for (let times = 0; times < 4; times++) await closed(await open(server, '127.0.0.2'));
    await untilValue(server, refusedBy('address_limit'), 4);
    const proxied = await open(server, '127.0.0.4');
    proxied.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await closed(proxied);
    await untilValue(server, refusedBy('proxy_header'), 1);
    const lines = server.logText.split('\n').filter((line) => line.includes('connections refused'));
    assert.deepEqual(
      lines.map((line) => {
        const { level, reason, count, lastAddress } = JSON.parse(line);
        return [level, reason, count, lastAddress];
      }),
      [
        ['warn', 'address_limit', 1, '127.0.0.2'],
        ['warn', 'proxy_header', 1, '127.0.0.4'],
      ],
    );
    for (const socket of kept) socket.destroy();
  });

  it('are counted where the process may open few files', async () => {
    await using server = await ServerProcess.start({
      flags: ['--without-auth', '--services', 'tsdb'],
      limits: 'ulimit -n 256',
    });
    await pageOf(server);
    // 192 of 256 descriptors are reserved for the server, and the client above uses one.
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(server, '127.0.0.2')));
    await untilValue(server, refusedBy('server_limit'), 100 - (64 - 1));
    assert.equal(server.logged('connections refused')?.['reason'], 'server_limit');
    for (const socket of sockets) socket.destroy();
  });

  it('are counted where the port speaks TLS and the client does not, or does it wrong', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb', ...tlsFlags(TLS)],
    });
    const plain = await open(server, '127.0.0.2');
    plain.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await closed(plain);
    await untilValue(server, refusedBy('plain_text'), 1);
    const broken = await open(server, '127.0.0.2');
    // A handshake record with invalid content.
    broken.write(Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]));
    await closed(broken);
    await untilValue(server, refusedBy('tls_handshake'), 1);
  });
});
