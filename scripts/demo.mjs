#!/usr/bin/env node
// npm run demo: starts a temporary server, writes real data over HTTP and runs SQL queries. Each result is compared with one that is
// computed from the same files without the server. The exit code is 0 only if all results match.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { HttpClient } from './lib/http-client.mjs';
import { startServerProcess } from './lib/server-process.mjs';

await ensureBuiltOrExit();
const { Narrator, durationText } = await import('./demo/narrator.mjs');
const { showWeather, showEarthquakes, showStocks, showMistakes } = await import(
  './demo/stories.mjs'
);
const { DEMO_FLAGS, showWebhooks } = await import('./demo/webhook-stories.mjs');
const { showGameData } = await import('./demo/game-stories.mjs');
const { queryFlights, showFlights } = await import('./demo/flight-stories.mjs');
const { showSenders } = await import('./demo/sender-stories.mjs');
const { showLiveQueries } = await import('./demo/live-stories.mjs');
const { showSchemaChanges } = await import('./demo/schema-stories.mjs');
const { preparePlugins, showPlugins } = await import('./demo/plugin-stories.mjs');

const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-demo-'));
const pluginDir = path.join(dataDir, 'plugins');
const flags = [...DEMO_FLAGS, '--plugin-dir', pluginDir];
const narrator = new Narrator();
preparePlugins(pluginDir);
let server;
try {
  narrator.title('A new server');
  server = await narrator.step(
    'start on a free port with an empty folder',
    () => startServerProcess({ dataDir, flags }),
    ({ url }) => url,
  );
  const anonymous = new HttpClient(server.url);
  const token = await narrator.step('create the admin token', () => anonymous.createAdminToken());
  const client = anonymous.withToken(token);
  await narrator.check(
    'a request without a token is rejected',
    async () => (await anonymous.call('GET', '/health')).status,
    401,
    String,
  );

  await showEarthquakes(narrator, client);
  await showWeather(narrator, client);
  await showStocks(narrator, client);
  const tally = await showFlights(narrator, client);
  await showMistakes(narrator, client);
  await showSenders(narrator, client);
  await showLiveQueries(narrator, client);
  await showSchemaChanges(narrator, client);
  await showWebhooks(narrator, client, anonymous);
  await showGameData(narrator, client);
  await showPlugins(narrator, client);

  narrator.title('A crash');
  await narrator.step('kill -9', () => server.kill());
  server = await narrator.step(
    'start again on the same folder',
    () => startServerProcess({ dataDir, flags }),
    ({ startMs }) => `recovered in ${durationText(startMs)}`,
  );
  await queryFlights(narrator, client.withUrl(server.url), tally);

  narrator.title('A clean stop');
  await narrator.check(
    'SIGTERM',
    () => server.stop(),
    0,
    (code) => `exit code ${code}`,
  );
  if (!narrator.finish()) process.exitCode = 1;
} catch (error) {
  console.error(`\nthe demo stopped: ${error.message}`);
  for (const line of server?.log.slice(-10) ?? []) console.error(`  ${line}`);
  process.exitCode = 1;
} finally {
  await server?.kill();
  fs.rmSync(dataDir, { recursive: true, force: true });
}
