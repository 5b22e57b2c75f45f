import {
  emptyResponse,
  jsonResponse,
  OpenApi,
  operatorFailure,
  operatorRoute,
  type Principal,
  type Route,
} from '@plinth/kernel';
import type { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import { Type } from 'typebox';

const PATH = '/tsdb/queries';
const Query = Type.Object({
  id: Type.String(),
  language: Type.String(),
  text: Type.String({ description: 'the first 10,000 characters' }),
  issued: Type.String({ description: 'nanoseconds since 1970' }),
  phase: Type.String({ description: 'as in system.queries' }),
  running: Type.Boolean(),
  age_ms: Type.Number({ description: 'until now, or until the end' }),
  file_count: Type.Optional(Type.Integer()),
  db: Type.Optional(Type.String({ description: 'the database of the request' })),
  token: Type.Optional(
    Type.String({ description: 'the name of the token or user; absent without authentication' }),
  ),
});

/** The web console starts the statements that fill its pages with this comment. */
const CONSOLE_COMMENT = '/* console */';

/** Running queries and the latest finished ones. */
export const queryLogRoutes = (log: QueryLog): readonly Route[] => [
  operatorRoute('GET', PATH, {
    about: { summary: 'List running and recently finished queries' },
    input: {
      query: Type.Object({
        running: Type.Optional(
          Type.Boolean({ default: false, description: 'return only running queries' }),
        ),
        console: Type.Optional(
          Type.Boolean({
            default: true,
            description: `return also the finished queries of the web console, which start with ${CONSOLE_COMMENT}`,
          }),
        ),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
      }),
    },
    output: {
      200: OpenApi.response(
        'newest first',
        OpenApi.json(Type.Object({ queries: Type.Array(Query) })),
      ),
    },
    handle(_request, { query: { running = false, console = true, limit = 100 } }) {
      return jsonResponse(200, queriesToWire(log, { running, hasConsole: console, limit }));
    },
  }),
  operatorRoute('DELETE', `${PATH}/:id`, {
    about: { summary: 'Cancel a running query; its client receives an error' },
    output: { 202: OpenApi.response('cancellation requested') },
    errors: { 404: 'query not found or not running' },
    handle(request) {
      const { id } = request.parameters;
      const entry = log
        .entries()
        .find(({ properties, isRunning }) => isRunning && properties.id === id);
      if (entry === undefined)
        return operatorFailure(request, 404, `query not found or not running: ${id}`);
      entry.cancel();
      return emptyResponse(202);
    },
  }),
];

/**
 * Returns the queries, newest first. @param options.maxTextLength maximum length of statements; longer
 * ones are cut and marked.
 */
export function queriesToWire(
  log: QueryLog,
  options: {
    readonly running: boolean;
    /**
     * Whether finished queries of the web console are included. Running ones are always included, because any client can add the
     * comment to a query.
     */
    readonly hasConsole: boolean;
    readonly limit: number;
    readonly maxTextLength?: number;
  },
): object {
  const { running, hasConsole, limit, maxTextLength = Number.POSITIVE_INFINITY } = options;
  const entries = log
    .entries()
    .filter(
      ({ isRunning, properties }) =>
        isRunning || (!running && (hasConsole || !properties.text.startsWith(CONSOLE_COMMENT))),
    );
  return {
    queries: entries
      .slice(-limit)
      .reverse()
      .map((entry) => ({
        id: entry.properties.id,
        language: entry.properties.language,
        text: entry.properties.text.slice(0, maxTextLength),
        ...(entry.properties.text.length > maxTextLength && { is_cut: true }),
        issued: entry.properties.issueNs.toString(),
        phase: entry.phase,
        running: entry.isRunning,
        age_ms: Math.round(entry.ageMs * 1000) / 1000,
        ...(entry.fileCount !== undefined && { file_count: entry.fileCount }),
        ...(entry.properties.database !== undefined && { db: entry.properties.database }),
        ...tokenOf(entry.properties.principal),
      })),
  };
}

function tokenOf(principal: Principal | undefined): { readonly token?: string } {
  if (principal?.kind === 'admin') return { token: principal.tokenName };
  return principal?.kind === 'grantee' ? { token: principal.name } : {};
}
