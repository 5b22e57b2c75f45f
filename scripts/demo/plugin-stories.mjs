import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DB } from './stories.mjs';

const LIMIT = 5;
const JSON_TYPE = { 'content-type': 'application/json' };

/** This plugin runs on every write and records earthquakes above a magnitude. */
const WATCH = `
def process_writes(influxdb3_local, table_batches, args=None):
    for batch in table_batches:
        for row in batch["rows"]:
            if row.get("mag", 0) >= float(args["limit"]):
                line = LineBuilder("strong_quakes").tag("net", row["net"])
                influxdb3_local.write(line.float64_field("mag", row["mag"]).time_ns(row["time"]))
`;

/** This plugin runs on an HTTP request. */
const REPORT = `
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    rows = influxdb3_local.query("SELECT count(*) AS n, max(mag) AS strongest FROM strong_quakes")
    return rows[0]
`;

/** Writes the plugins to `folder`, the plugin folder of the server. */
export function preparePlugins(folder) {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'watch.py'), WATCH);
  fs.writeFileSync(path.join(folder, 'report.py'), REPORT);
}

export async function showPlugins(narrator, client) {
  narrator.title('Python plugins: a trigger for writes and one for requests');
  if (spawnSync('python3', ['--version']).status !== 0) {
    narrator.note('skipped: python3 is not installed');
    return;
  }
  const create = async (name, plugin, specification, args) => {
    const answer = await client.call('POST', '/api/v3/configure/processing_engine_trigger', {
      headers: { ...JSON_TYPE },
      body: JSON.stringify({
        db: DB,
        trigger_name: name,
        plugin_filename: plugin,
        trigger_specification: specification,
        trigger_arguments: args,
      }),
    });
    if (answer.status !== 200) throw new Error(`trigger: ${answer.status} ${answer.text}`);
  };
  await narrator.step('create a trigger for writes to "quakes_live"', () =>
    create('watch', 'watch.py', 'table:quakes_live', { limit: String(LIMIT) }),
  );
  await narrator.step('create a trigger for /api/v3/engine/quakes', () =>
    create('report', 'report.py', 'request:quakes'),
  );
  const found = await client.query(
    DB,
    'SELECT net, mag, time FROM earthquakes WHERE mag IS NOT NULL',
  );
  const lines = found.map(
    ({ net, mag, time }) => `quakes_live,net=${net} mag=${mag} ${Date.parse(`${time}Z`)}`,
  );
  await narrator.step(
    'write a week of earthquakes again',
    () => client.write(DB, lines.join('\n'), 'ms'),
    () => `${lines.length} rows`,
  );
  const strong = found.filter(({ mag }) => mag >= LIMIT);
  const points = new Set(strong.map(({ net, time }) => `${net} ${time}`));
  const expected = { n: points.size, strongest: Math.max(...strong.map(({ mag }) => mag)) };
  await narrator.check(
    `earthquakes above magnitude ${LIMIT} that the plugin recorded`,
    async () => {
      let answer;
      // Plugins receive rows asynchronously, after they are durable.
      for (let wait = 0; wait < 400; wait++) {
        const { status, text } = await client.call('GET', '/api/v3/engine/quakes');
        answer = status === 200 ? JSON.parse(text) : undefined;
        if (answer?.n === expected.n) break;
        await sleep(25);
      }
      return answer;
    },
    expected,
    ({ n, strongest }) => `${n}, the strongest ${strongest}`,
  );
}
