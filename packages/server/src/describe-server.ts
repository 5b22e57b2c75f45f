import { createLogger } from '@plinth/kernel';
import { DataFolder } from './folder/data-folder.js';
import { metricsPage } from './metrics/metrics-page.js';
import { readSettings } from './start-server.js';
import { type WiredServer, wireUp } from './wire-up.js';

/** Returns the OpenAPI descriptions of a server with default settings, by name. */
export async function describeServer(): Promise<Readonly<Record<string, object>>> {
  return await withUsualServer((wired) => wired.descriptions());
}

/** Returns the Markdown page of the metrics of such a server. */
export async function describeMetrics(): Promise<string> {
  return await withUsualServer((wired) => metricsPage(wired.metrics.registered));
}

async function withUsualServer<T>(describe: (wired: WiredServer) => T): Promise<T> {
  const settings = readSettings({
    env: {},
    flags: new Map([
      ['object-store', 'memory'],
      // Without this setting, keys are created and printed.
      ['accounts-bootstrap-keys', `sk_test_${'0'.repeat(40)}`],
      // Without this setting, a claim code is created and printed.
      ['first-token', 'anyone'],
    ]),
  });
  const folder = await DataFolder.open(settings.server);
  const wired = await wireUp(settings, createLogger({ level: 'error', destination: 2 }), {
    folder,
  });
  try {
    return describe(wired);
  } finally {
    await wired.close();
  }
}
