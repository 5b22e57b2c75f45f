import { PluginCallFailed, type PluginServices } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { GlobalCache } from './global-cache.js';
import type { FrameHeader } from './plugin-frames.js';

/**
 * Handles a call from a running plugin to the server. Throws `PluginCallFailed`. Source:
 * docs/formats/plugin-frames.md.
 */
export async function handlePluginCall(
  from: { readonly services: PluginServices; readonly globals: GlobalCache },
  header: FrameHeader,
  body: Buffer,
): Promise<{ readonly header: object; readonly parts?: readonly Uint8Array[] }> {
  const { services, globals } = from;
  switch (header['op']) {
    case 'query': {
      const rows = await services.query({
        database: String(header['db']),
        sql: String(header['sql']),
        params: new Map(
          Object.entries((header['params'] ?? {}) as Readonly<Record<string, string>>),
        ),
      });
      return { header: { n: rows.rowCount, cols: rows.columns }, parts: rows.parts };
    }
    case 'write':
      await services.write({
        database: String(header['db']),
        lines: body,
        noSync: header['no_sync'] === true,
      });
      return { header: {} };
    case 'gget': {
      const value = globals.get(String(header['key']));
      return { header: { found: value !== undefined }, parts: value ? [value] : [] };
    }
    case 'gput':
      globals.put(String(header['key']), body, header['ttl']);
      return { header: {} };
    case 'gdel':
      return { header: { found: globals.delete(String(header['key'])) } };
    default:
      throw new PluginCallFailed('Exception', `unknown plugin call ${String(header['op'])}`);
  }
}
