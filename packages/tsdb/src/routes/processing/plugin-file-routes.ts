import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PluginFileRefused } from '../../processing-errors.js';
import { ManagementInput, sentContentType } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { jsonError } from '../query/json-request.js';
import { parseParameters, queryStringOf, readParameter } from '../query-string.js';
import { sendError } from '../to-wire.js';

const FILES = '/api/v3/plugins/files';
/** Files of one folder in one call. */
const MAX_FILE_COUNT = 1000;

/** Source: processing-engine, "HTTP API" and "Plugin files". */
export function registerPluginFileRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { engine } = deps.processing;
  const route = (
    method: 'POST' | 'PUT',
    url: string,
    act: (request: FastifyRequest) => Promise<void>,
  ): void => {
    app.route({
      method,
      url,
      errorHandler: (error, _request, reply) =>
        sendError(error, reply, { dialect: 'native', log: deps.log }),
      handler: async (request, reply) => {
        await act(request);
        return reply.code(200).send();
      },
    });
  };
  const writeRaw = async (request: FastifyRequest): Promise<boolean> => {
    const parameters = parseParameters(queryStringOf(request.raw.url ?? '') ?? '');
    const path = readParameter(parameters, ['path']);
    const type = sentContentType(request) ?? '';
    if (path === undefined || !/^application\/octet-stream\b/i.test(type)) return false;
    const body = request.body instanceof Uint8Array ? request.body : new Uint8Array(0);
    await engine.writableFolder().write(path, body);
    return true;
  };
  route('POST', FILES, async (request) => {
    if (await writeRaw(request)) return;
    const input = ManagementInput.of(request);
    const name = input.requiredText('plugin_name');
    await engine.writableFolder().write(name, input.requiredText('content'));
  });
  route('PUT', FILES, async (request) => {
    if (await writeRaw(request)) return;
    const input = ManagementInput.of(request);
    const folder = engine.writableFolder();
    const file = ownFile(engine.pluginFilenameOf(input.requiredText('plugin_name')));
    await folder.write(file, input.requiredText('content'));
  });
  route('PUT', '/api/v3/plugins/directory', async (request) => {
    const input = ManagementInput.of(request);
    const folder = engine.writableFolder();
    const name = ownFile(engine.pluginFilenameOf(input.requiredText('plugin_name')));
    const files = input.objects('files').map((file) => ({
      path: textOf(file, 'relative_path'),
      content: textOf(file, 'content'),
    }));
    if (files.length === 0 || files.length > MAX_FILE_COUNT) {
      throw new PluginFileRefused(`a plugin directory has 1 to ${MAX_FILE_COUNT} files`);
    }
    if (!files.some(({ path }) => path === '__init__.py')) {
      throw new PluginFileRefused('a plugin directory must contain __init__.py');
    }
    await folder.replaceFolder(name, files);
  });
}

function ownFile(pluginFilename: string): string {
  if (!pluginFilename.startsWith('gh:')) return pluginFilename;
  throw new PluginFileRefused(
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
