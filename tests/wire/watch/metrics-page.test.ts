// Source: docs/METRICS.md: the page says what `GET /metrics` has, no more and no less.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BusyServer } from './busy-server.js';

const PAGE = fileURLToPath(new URL('../../../../docs/METRICS.md', import.meta.url));

interface Documented {
  readonly service: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly unit: string;
  readonly meaning: string;
}

function readPage(): ReadonlyMap<string, Documented> {
  const found = new Map<string, Documented>();
  let service = '';
  for (const line of readFileSync(PAGE, 'utf8').split('\n')) {
    service = /^## (\w+)$/.exec(line)?.[1] ?? service;
    const row = /^\| `(\w+)` \| (\w+) \| (.*?) ?\| (\w*) ?\| (.+) \|$/.exec(line);
    if (row === null) continue;
    const [, name = '', type = '', labels = '', unit = '', meaning = ''] = row;
    assert.ok(!found.has(name), `${name} stands there twice`);
    const names = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
    found.set(name, { service, type, labels: names.sort(), unit, meaning });
  }
  return found;
}

describe('the page of metrics', () => {
  const page = readPage();
  let server: BusyServer;
  before(async () => {
    server = await BusyServer.start();
  });
  after(async () => await server.close());

  it('has every family with its type and meaning, and no other', async () => {
    const { text } = await server.process.http.send('/metrics');
    const said = [...text.matchAll(/^# HELP (\w+) (.+)\n# TYPE \1 (\w+)$/gm)];
    const served = said.map(([, name = '', meaning, type]) => [name, type, meaning]);
    const written = [...page].map(([name, { type, meaning }]) => [name, type, meaning]);
    assert.ok(served.length > 60, `${served.length} families`);
    assert.deepEqual(written.sort(), served.sort());
  });

  it('has every label of every family, and no other', async () => {
    const seen = new Map([...page.keys()].map((name) => [name, new Set<string>()]));
    for (const { name, labels } of await server.samples()) {
      const family = seen.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '');
      const names = seen.get(family);
      assert.ok(names, `${name} is not on the page`);
      const isBucket = name === `${family}_bucket`;
      for (const label of Object.keys(labels)) if (!(isBucket && label === 'le')) names.add(label);
    }
    for (const [name, { labels }] of page) {
      assert.deepEqual([...(seen.get(name) ?? [])].sort(), labels, name);
    }
  });

  it('names the unit in which names end, and every service', () => {
    for (const [name, { unit }] of page) {
      const ending = /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1] ?? '';
      assert.equal(unit, ending, name);
    }
    assert.deepEqual(
      new Set([...page.values()].map(({ service }) => service)),
      new Set(['server', 'accounts', 'gamedata', 'ratelimit', 'tsdb', 'webhooks']),
    );
  });
});
