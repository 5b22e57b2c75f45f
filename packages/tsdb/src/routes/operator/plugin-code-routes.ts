import { createHash } from 'node:crypto';
import {
  type HttpRequest,
  type HttpResponse,
  jsonResponse,
  OpenApi,
  operatorFailure,
  operatorRoute,
  type Route,
} from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Plugins } from '@plinth/tsdb-plugins/domain/plugins/plugins.js';
import { Type } from 'typebox';

const { response, json } = OpenApi;

const Source = Type.Object({
  path: Type.String(),
  content: Type.String(),
  sha256: Type.String({ description: 'of the content, to detect changes by others' }),
  files: Type.Array(Type.String(), {
    description: 'paths of all Python files, if the plugin is a folder',
  }),
});

/** Reads the code of plugins, for an editor. The route that writes it belongs to `/api/v3`. */
export const pluginCodeRoutes = (plugins: Plugins): readonly Route[] => [
  operatorRoute('GET', '/tsdb/plugin-files', {
    about: { summary: 'Get the code of a plugin, or one file of its folder' },
    input: {
      query: Type.Object({
        path: Type.String({
          minLength: 1,
          description: 'path in the plugin folder, or `gh:` path',
        }),
      }),
    },
    output: { 200: response('the code', json(Source)) },
    errors: { 404: 'file not found', 422: 'the path is not allowed, or the file is not readable' },
    async handle(request, { query: { path } }) {
      try {
        const { content, files } = await plugins.readCode(path);
        const sha256 = createHash('sha256').update(content).digest('hex');
        return jsonResponse(200, { path, content, sha256, files });
      } catch (error) {
        return failureOf(request, error);
      }
    },
  }),
];

function failureOf(request: HttpRequest, error: unknown): HttpResponse {
  if (!tsdbError.is(error)) throw error;
  return operatorFailure(request, error.kind === 'plugin_file_missing' ? 404 : 422, error.message);
}
