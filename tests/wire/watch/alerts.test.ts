// Source: docs/ALERT-RUNBOOK.md; docs/MONITORING.md, "Install the dashboards", against Debian's Prometheus.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NO_SMALL_DISK, SmallDisk } from '../../crash/small-disk.js';
import { ServerInProcess } from '../../harness/index.js';
import { BusyServer } from './busy-server.js';
import { queriesOf, readDashboard } from './dashboards.js';
import { NO_PROMETHEUS, Prometheus, packaged } from './prometheus.js';

const RULES = packaged('prometheus/rules.yaml');
const RUNBOOK = packaged('../docs/ALERT-RUNBOOK.md');
const RULE_TESTS = packaged('prometheus/rules.test.yaml');
const namesIn = (file: string, pattern: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, name = '']) => name).sort();
const alerts = namesIn(RULES, /- alert: (\w+)/g);

describe('alerts', () => {
  it('have a unit test and a section that says what to do, each', () => {
    assert.deepEqual(
      alerts,
      [...new Set(namesIn(RULE_TESTS, /alertname="(\w+)", alertstate="firing"}$/gm))].sort(),
    );
    assert.deepEqual(namesIn(RUNBOOK, /^## (Plinth\w+)$/gm), alerts);
    const links = namesIn(RULES, /runbook: docs\/ALERT-RUNBOOK\.md#(\w+)/g);
    assert.deepEqual(
      links,
      alerts.map((name) => name.toLowerCase()),
    );
  });

  it('are right by promtool, and so are their unit tests', { skip: NO_PROMETHEUS }, () => {
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', RULE_TESTS],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      assert.equal(status, 0, `${stdout}${stderr}`);
    }
  });
});

describe('the scrape of the guide', { skip: NO_PROMETHEUS }, () => {
  it('needs a token that may read metrics, and no other permission', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token: admin } = JSON.parse(made.text) as { token: string };
    const granted = async (resource: string) => {
      const permission = {
        resource_type: 'system',
        resource_identifier: [resource],
        actions: ['read'],
      };
      const response = await server.http.send('/api/v3/enterprise/configure/token', {
        method: 'POST',
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
        body: JSON.stringify({ token_name: resource, permissions: [permission] }),
      });
      assert.ok(response.status < 300, response.text);
      return (JSON.parse(response.text) as { token: string }).token;
    };
    const { host } = new URL(server.url);
    await using right = await Prometheus.start(host, await granted('metrics'));
    await right.untilRows('up{job="plinth"} == 1');
    await using wrong = await Prometheus.start(host, await granted('health'));
    await wrong.untilRows('up{job="plinth"} == 0');
    await wrong.untilFiring('PlinthDown', true);
  });
});

const DISK_MB = 192;

/** Keeps the disk full: space that the server frees in the meantime, such as log files, is filled again. */
async function keptFull(disk: SmallDisk, work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const filling = (async () => {
    for (; !isOver; await sleep(200)) await disk.fill();
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await filling;
  }
}

describe('a Prometheus', { skip: NO_PROMETHEUS }, () => {
  let disk: SmallDisk | undefined;
  let server: BusyServer;
  let prometheus: Prometheus;
  before(async () => {
    if (NO_SMALL_DISK === false) disk = await SmallDisk.mount(DISK_MB);
    // The disk is smaller than the default minimum of free space.
    const flags = ['--storage-min-free-bytes', String(16 * 1024 * 1024)];
    const dataDir = disk === undefined ? undefined : join(disk.path, 'data');
    server = await BusyServer.start(flags, dataDir);
    prometheus = await Prometheus.start(new URL(server.process.url).host);
  });
  after(async () => {
    await prometheus?.close();
    await server?.close();
    await disk?.unmount();
  });

  it('scrapes the server, and every panel of the dashboard has rows', async () => {
    const [up] = await prometheus.untilRows('up{job="plinth"} == 1');
    assert.equal(up?.metric['instance'], new URL(server.process.url).host);
    const variables = { $instance: '.+', $__rate_interval: '30s' };
    const queries = queriesOf(readDashboard('plinth-prometheus'), variables);
    assert.ok(queries.length > 50, `${queries.length} queries`);
    for (const { title, text } of queries) {
      assert.doesNotMatch(text, /\$[a-z_]/, text);
      assert.ok((await prometheus.untilRows(text)).length > 0, title);
    }
  });

  it('loads the rules; a full disk makes alerts fire, and room makes them clear', async (t) => {
    if (disk === undefined) return t.skip(String(NO_SMALL_DISK));
    await prometheus.untilFiring('PlinthDiskFull', false);
    const rules = await prometheus.rules();
    assert.deepEqual(rules.map(({ name }) => name).sort(), alerts);
    for (const { name, health } of rules) assert.equal(health, 'ok', name);
    await keptFull(disk, async () => {
      await prometheus.untilFiring('PlinthDiskFull', true);
      await prometheus.untilFiring('PlinthNotReady', true);
    });
    await disk.empty();
    await prometheus.untilFiring('PlinthDiskFull', false);
    await prometheus.untilFiring('PlinthNotReady', false);
    await prometheus.untilRows('up{job="plinth"} == 1');
  });
});
