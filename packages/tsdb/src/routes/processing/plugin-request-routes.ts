import {
  type ApiConventions,
  gunzipBounded,
  type HeaderList,
  type HttpRequest,
  type HttpResponse,
  jsonResponse,
  OpenApi,
  pathOf,
  queryOf,
  type Route,
  withHeaders,
} from '@plinth/kernel';
import type { PluginResponse } from '@plinth/tsdb-model/plugins/plugin-host.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';

const PREFIX = '/api/v3/engine/';

/**
 * Headers hidden from plugins: credentials of this server and of a proxy. The server has no
 * cookies.
 */
const WITHHELD_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization']);

/**
 * Sandboxes pages created by plugins: browsers give them a separate origin, so that they cannot act
 * as pages of this server. Browsers run only responses that declare a script type.
 */
export const PROTECTION: HeaderList = [
  ['content-security-policy', 'sandbox allow-scripts allow-forms'],
  ['x-content-type-options', 'nosniff'],
];

/**
 * Headers that browsers apply to the complete origin, which is this server. `access-control-*` is
 * dropped as well.
 */
const OF_THE_ORIGIN: ReadonlySet<string> = new Set([
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'sec-session-registration',
  'service-worker-allowed',
  'set-cookie',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
  'x-accel-redirect',
]);

/** The plugin defines the format of requests and responses. */
const DOCS = {
  about: { summary: 'Run the plugin of a request trigger' },
  input: {
    parameters: Type.Object({
      request_path: Type.String({ description: 'as in request:path; may contain slashes' }),
    }),
    validation: 'the plugin validates the request',
  },
  output: { default: OpenApi.response('response of the plugin') },
  errors: {
    404: 'no enabled trigger has this path',
    500: 'the plugin failed',
    503: 'too many requests are waiting, or the process cannot be started',
  },
} as const;

/** Source: processing-engine, "Request arguments", "Request plugin responses". */
export function pluginRequestRoutes(
  { processing, settings }: RouteDeps,
  conventions: ApiConventions,
): readonly Route[] {
  const limitBytes = settings.max_request_size_bytes;
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const response = await processing.engine.running.request(
      pathOf(request.url).slice(PREFIX.length),
      {
        query: Object.fromEntries(new URLSearchParams(queryOf(request.url))),
        headers: headersOf(request),
        body:
          request.headers['content-encoding'] === 'gzip'
            ? await gunzipBounded(request.body, limitBytes)
            : request.body,
      },
      request.disconnectSignal(),
    );
    if (response === undefined)
      return jsonResponse(404, { error: 'not found', data: {} }, PROTECTION);
    if (response === 'busy') {
      const failure = {
        error: 'too many requests are waiting for this trigger; retry later',
        data: {},
      };
      return jsonResponse(503, failure, [...PROTECTION, ['retry-after', '1']]);
    }
    return withHeaders(
      responseOf(response, {
        own: conventions.headers?.(request) ?? [],
        mayHaveCookies: settings.plugin_response_cookies,
      }),
      PROTECTION,
    );
  };
  const route = { path: `${PREFIX}*`, access: 'admin', ...DOCS, handle } as const;
  return [
    { ...route, method: 'GET', hasHead: false },
    // Plugins receive the original encoding.
    {
      ...route,
      method: 'POST',
      input: { ...DOCS.input, body: Type.Unknown(), bodyType: '*/*' },
      body: { maxBytes: limitBytes, isLeftEncoded: true },
    },
  ];
}

/** If a header is repeated, the last value is used. */
function headersOf(request: HttpRequest): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of request.headerList()) {
    if (!name.startsWith(':') && !WITHHELD_HEADERS.has(name)) headers[name] = value;
  }
  return headers;
}

/**
 * Drops headers that the server sets or that affect more than this response.
 * @param own headers that the server adds.
 */
function responseOf(
  { status, headers, body }: PluginResponse,
  { own, mayHaveCookies }: { readonly own: HeaderList; readonly mayHaveCookies: boolean },
): HttpResponse {
  const withheld = new Set([
    'date',
    ...OF_THE_ORIGIN,
    ...[...own, ...PROTECTION].map(([name]) => name),
  ]);
  if (mayHaveCookies) withheld.delete('set-cookie');
  if (status === 204) withheld.add('content-type');
  const hasBody = status !== 204 && status !== 304;
  return {
    status,
    headers: headers
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !withheld.has(name) && !name.startsWith('access-control-')),
    body: hasBody ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : undefined,
  };
}
