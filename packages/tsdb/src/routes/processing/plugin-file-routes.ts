import {
  emptyResponse,
  type HttpRequest,
  queryOf,
  type Route,
  type RouteDocs,
} from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { PROCESSING_FAILED } from '../description.js';
import { jsonError } from '../query/json-request.js';
import { parseParameters, readParameter } from '../query-string.js';

const FILES = '/api/v3/plugins/files';
/** Maximum number of files of one folder per request. */
const MAX_FILE_COUNT = 1000;

/** Parameters of a file that is sent as the body (`application/octet-stream`). */
const RAW = {
  path: Type.Optional(
    Type.String({ description: 'path in the plugin folder, if the body is the file' }),
  ),
};
const WRITE: RouteDocs = {
  summary: 'Create or replace a file in the plugin folder',
  query: RAW,
  body: Type.Object({
    plugin_name: Type.String({ description: 'path in the plugin folder' }),
    content: Type.String(),
  }),
  errors: PROCESSING_FAILED,
};
const OF_TRIGGER = { plugin_name: Type.String({ description: 'name of a trigger' }) };
const REPLACE: RouteDocs = {
  summary: 'Replace the file of a trigger’s plugin',
  query: RAW,
  body: Type.Object({ ...OF_TRIGGER, content: Type.String() }),
  errors: PROCESSING_FAILED,
};
const REPLACE_FOLDER: RouteDocs = {
  summary: 'Replace the folder of a trigger’s plugin atomically',
  body: Type.Object({
    ...OF_TRIGGER,
    files: Type.Array(Type.Object({ relative_path: Type.String(), content: Type.String() }), {
      minItems: 1,
      maxItems: MAX_FILE_COUNT,
    }),
  }),
  errors: PROCESSING_FAILED,
};

/** Source: processing-engine, "HTTP API" and "Plugin files". */
export function pluginFileRoutes({ processing, routeBuilder }: RouteDeps): readonly Route[] {
  const { plugins, triggers } = processing.engine;
  /**
   * Creates the route. If the query string names a path, the body is the file. Otherwise, `write` reads a JSON body.
   */
  const writing = (
    method: 'POST' | 'PUT',
    docs: RouteDocs,
    write: (input: ManagementInput) => Promise<void>,
  ): Route =>
    routeBuilder.send(method, FILES, docs, async (request) => {
      const path = rawFileOf(request);
      if (path === undefined) await write(ManagementInput.of(request));
      else await plugins.writableFolder().write(path, request.body);
      return emptyResponse(200);
    });
  return [
    writing('POST', WRITE, async (input) => {
      const name = input.requiredText('plugin_name');
      await plugins.writableFolder().write(name, input.requiredText('content'));
    }),
    writing('PUT', REPLACE, async (input) => {
      const folder = plugins.writableFolder();
      const file = ownFile(triggers.pluginFilenameOf(input.requiredText('plugin_name')));
      await folder.write(file, input.requiredText('content'));
    }),
    routeBuilder.command('PUT', '/api/v3/plugins/directory', REPLACE_FOLDER, async (input) => {
      const folder = plugins.writableFolder();
      const name = ownFile(triggers.pluginFilenameOf(input.requiredText('plugin_name')));
      const files = input.objects('files').map((file) => ({
        path: textOf(file, 'relative_path'),
        content: textOf(file, 'content'),
      }));
      if (files.length === 0 || files.length > MAX_FILE_COUNT) {
        throw tsdbError(
          'plugin_file_refused',
          `a plugin directory must contain 1 to ${MAX_FILE_COUNT} files`,
        );
      }
      if (!files.some(({ path }) => path === '__init__.py')) {
        throw tsdbError('plugin_file_refused', 'a plugin directory must contain __init__.py');
      }
      await folder.replaceFolder(name, files);
    }),
  ];
}

/** Returns the path if the body is the file; `undefined` otherwise. */
function rawFileOf({ url, headers }: HttpRequest): string | undefined {
  const isRaw = /^application\/octet-stream\b/i.test(headers['content-type'] ?? '');
  const path = readParameter(parseParameters(queryOf(url)), ['path']);
  return isRaw ? path : undefined;
}

function ownFile(pluginFilename: string): string {
  if (!pluginFilename.startsWith('gh:')) return pluginFilename;
  throw tsdbError(
    'plugin_file_refused',
    `${pluginFilename} is loaded from the plugin repository and cannot be changed here`,
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
