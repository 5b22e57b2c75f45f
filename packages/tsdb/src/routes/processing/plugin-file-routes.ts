import { emptyAnswer, type HttpRequest, queryOf, type Route } from '@plinth/kernel';
import { tsdbError } from '../../errors.js';
import { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { jsonError } from '../query/json-request.js';
import { parseParameters, readParameter } from '../query-string.js';

const FILES = '/api/v3/plugins/files';
/** Files of one folder in one call. */
const MAX_FILE_COUNT = 1000;

/** Source: processing-engine, "HTTP API" and "Plugin files". */
export function pluginFileRoutes({ processing, admin }: RouteDeps): readonly Route[] {
  const { engine } = processing;
  /** The body is the file where the query string names it; `write` is for those told in JSON. */
  const writing = (
    method: 'POST' | 'PUT',
    write: (input: ManagementInput) => Promise<void>,
  ): Route =>
    admin.send(method, FILES, async (request) => {
      const path = rawFileOf(request);
      if (path === undefined) await write(ManagementInput.of(request));
      else await engine.writableFolder().write(path, request.body);
      return emptyAnswer(200);
    });
  return [
    writing('POST', async (input) => {
      const name = input.requiredText('plugin_name');
      await engine.writableFolder().write(name, input.requiredText('content'));
    }),
    writing('PUT', async (input) => {
      const folder = engine.writableFolder();
      const file = ownFile(engine.pluginFilenameOf(input.requiredText('plugin_name')));
      await folder.write(file, input.requiredText('content'));
    }),
    admin.command('PUT', '/api/v3/plugins/directory', async (input) => {
      const folder = engine.writableFolder();
      const name = ownFile(engine.pluginFilenameOf(input.requiredText('plugin_name')));
      const files = input.objects('files').map((file) => ({
        path: textOf(file, 'relative_path'),
        content: textOf(file, 'content'),
      }));
      if (files.length === 0 || files.length > MAX_FILE_COUNT) {
        throw tsdbError(
          'plugin_file_refused',
          `a plugin directory has 1 to ${MAX_FILE_COUNT} files`,
        );
      }
      if (!files.some(({ path }) => path === '__init__.py')) {
        throw tsdbError('plugin_file_refused', 'a plugin directory must contain __init__.py');
      }
      await folder.replaceFolder(name, files);
    }),
  ];
}

/** Path of the file that the body is; `undefined`: it is none. */
function rawFileOf({ url, headers }: HttpRequest): string | undefined {
  const isRaw = /^application\/octet-stream\b/i.test(headers['content-type'] ?? '');
  const path = readParameter(parseParameters(queryOf(url)), ['path']);
  return isRaw ? path : undefined;
}

function ownFile(pluginFilename: string): string {
  if (!pluginFilename.startsWith('gh:')) return pluginFilename;
  throw tsdbError(
    'plugin_file_refused',
    `${pluginFilename} is fetched at every start and cannot be changed here`,
  );
}

function textOf(file: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(file, name) ? file[name] : undefined;
  if (typeof value === 'string') return value;
  throw jsonError(
    value === undefined
      ? `missing field \`${name}\``
      : `invalid type for field \`${name}\`, expected a string`,
  );
}
