#!/usr/bin/env node
// npm run demo: a throw-away server, real data written over HTTP, questions asked in SQL, each answer held to
// one that is computed from the same files without the server. Exit code 0 only if every answer was right.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { HttpClient } from './lib/http-client.mjs';
import { startServerProcess } from './lib/server-process.mjs';

await ensureBuiltOrExit();
const { Narrator, durationText } = await import('./demo/narrator.mjs');
const { tellWeather, tellEarthquakes, tellStocks, tellMistakes } = await import(
  './demo/stories.mjs'
);
const { DEMO_FLAGS, tellWebhooks } = await import('./demo/webhook-stories.mjs');
const { tellGameData } = await import('./demo/game-stories.mjs');
const { askFlights, tellFlights } = await import('./demo/flight-stories.mjs');
const { preparePlugins, tellPlugins } = await import('./demo/plugin-stories.mjs');

const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-demo-'));
const pluginDir = path.join(dataDir, 'plugins');
const flags = [...DEMO_FLAGS, '--plugin-dir', pluginDir];
const say = new Narrator();
preparePlugins(pluginDir);
let server;
try {
  say.title('A fresh server');
  server = await say.step(
    'start on a free port, empty folder',
    () => startServerProcess({ dataDir, flags }),
    ({ url }) => url,
  );
  const anonymous = new HttpClient(server.url);
  const token = await say.step('make the admin token', () => anonymous.createAdminToken());
  const client = anonymous.withToken(token);
  await say.check(
    'who has no token is turned away',
    async () => (await anonymous.call('GET', '/health')).status,
    401,
    String,
  );

  await tellEarthquakes(say, client);
  await tellWeather(say, client);
  await tellStocks(say, client);
  const tally = await tellFlights(say, client);
  await tellMistakes(say, client);
  await tellWebhooks(say, client, anonymous);
  await tellGameData(say, client);
  await tellPlugins(say, client);

  say.title('A crash');
  await say.step('kill -9', () => server.kill());
  server = await say.step(
    'start again on the same folder',
    () => startServerProcess({ dataDir, flags }),
    ({ startMs }) => `recovered in ${durationText(startMs)}`,
  );
  await askFlights(say, client.withUrl(server.url), tally);

  say.title('A clean stop');
  await say.check(
    'SIGTERM',
    () => server.stop(),
    0,
    (code) => `exit code ${code}`,
  );
  if (!say.finish()) process.exitCode = 1;
} catch (error) {
  console.error(`\nthe demo cannot go on: ${error.message}`);
  for (const line of server?.log.slice(-10) ?? []) console.error(`  ${line}`);
  process.exitCode = 1;
} finally {
  await server?.kill();
  fs.rmSync(dataDir, { recursive: true, force: true });
}
