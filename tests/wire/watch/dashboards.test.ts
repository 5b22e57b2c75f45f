// Source: Grafana's JSON model of dashboards (schema 38, of version 10); docs/MONITORING.md, "Install the dashboards".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BusyServer } from './busy-server.js';
import { DASHBOARDS, queriesOf, readDashboard } from './dashboards.js';

describe('dashboards', () => {
  for (const name of DASHBOARDS) {
    it(`${name} can be imported: a data source to choose, ids and places of its own, units`, () => {
      const { panels, schemaVersion, templating, uid } = readDashboard(name);
      assert.equal(schemaVersion, 38);
      assert.equal(uid, name);
      const [source, filter] = templating.list;
      assert.deepEqual([source?.name, source?.type], ['datasource', 'datasource']);
      assert.equal(filter?.type, 'query');
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
      const taken = new Set<string>();
      for (const { title, type, datasource, fieldConfig, gridPos, targets } of panels) {
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
            assert.ok(x < 24 && !taken.has(`${x} ${y}`), `${title} covers another panel`);
            taken.add(`${x} ${y}`);
          }
        if (type === 'row') continue;
        assert.deepEqual(datasource, { type: source?.query, uid: `$\{datasource}` }, title);
        assert.ok(fieldConfig?.defaults.unit, `${title} has no unit`);
        assert.ok((targets?.length ?? 0) > 0, `${title} asks nothing`);
      }
    });
  }
});

describe('the dashboard of the database _internal', () => {
  let server: BusyServer;
  before(async () => {
    server = await BusyServer.start();
  });
  after(async () => await server.close());

  const ask = async (text: string) => {
    const parameters = new URLSearchParams({ db: '_internal', q: text, epoch: 'ms' });
    const response = await server.process.http.send(`/query?${parameters}`);
    assert.equal(response.status, 200, `${text}: ${response.text}`);
    const { results } = JSON.parse(response.text) as {
      results: readonly { series?: readonly { values: readonly unknown[] }[]; error?: string }[];
    };
    assert.equal(results[0]?.error, undefined, text);
    return (results[0]?.series ?? []).reduce((sum, { values }) => sum + values.length, 0);
  };

  it('has rows for every panel, and values for its variable', async () => {
    const dashboard = readDashboard('plinth-influxql');
    const queries = queriesOf(dashboard, {
      $timeFilter: 'time >= now() - 5m',
      $__interval: '2s',
      $node: '.*',
    });
    assert.ok(queries.length > 30, `${queries.length} queries`);
    for (const { text } of queries) assert.doesNotMatch(text, /\$[a-z_]/, text);
    // Rates need several intervals of the server's own metrics.
    let empty = queries;
    for (let left = 20; empty.length > 0 && left > 0; left -= 1) {
      if (left < 20) await sleep(1000);
      const counts: number[] = [];
      for (const { text } of empty) counts.push(await ask(text));
      empty = empty.filter((_query, index) => counts[index] === 0);
    }
    assert.deepEqual(empty, []);
    assert.ok((await ask(String(dashboard.templating.list[1]?.query))) > 0);
  });
});
