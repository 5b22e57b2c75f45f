import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginCode } from '@plinth/tsdb-model/plugins/plugin-host.js';

const DEFAULT_REPOSITORY = 'https://raw.githubusercontent.com/influxdata/influxdb3_plugins/main/';
const PREFIX = 'gh:';
const MAX_REDIRECTS = 5;
const MAX_SIZE_BYTES = 1024 * 1024;
const LIMIT_MS = 10_000;

/** Returns the path in the plugin repository; `undefined` if the plugin is in the plugin folder. */
export function repositoryPathOf(pluginFilename: string): string | undefined {
  return pluginFilename.startsWith(PREFIX) ? pluginFilename.slice(PREFIX.length) : undefined;
}

/** Throws `plugin_fetch_failed`, `plugin_path_escapes`. Source: processing-engine, "Plugin files", "Security". */
export async function fetchPlugin(
  path: string,
  repository: string = DEFAULT_REPOSITORY,
): Promise<PluginCode> {
  const base = repository.endsWith('/') ? repository : `${repository}/`;
  let url = `${base}${path}`;
  // Compares the parsed URL, because `..` has several encodings that leave the repository.
  if (URL.canParse(url) && !new URL(url).href.startsWith(new URL(base).href)) {
    throw tsdbError('plugin_path_escapes', { path: `${PREFIX}${path}` });
  }
  try {
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const signal = AbortSignal.timeout(LIMIT_MS);
      const response = await fetch(url, { redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && location !== null) {
        url = new URL(location, url).href;
        continue;
      }
      if (!response.ok) {
        throw tsdbError('plugin_fetch_failed', `${response.status} ${response.statusText} ${url}`);
      }
      return { kind: 'source', source: await readBounded(response, url) };
    }
  } catch (error) {
    if (tsdbError.is(error, 'plugin_fetch_failed')) throw error;
    const why =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : error;
    throw tsdbError('plugin_fetch_failed', `${why} ${url}`, error);
  }
  throw tsdbError('plugin_fetch_failed', `${url} redirects more than ${MAX_REDIRECTS} times`);
}

async function readBounded(response: Response, url: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of response.body ?? []) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_SIZE_BYTES) {
      throw tsdbError('plugin_fetch_failed', `${url} has more than ${MAX_SIZE_BYTES} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
