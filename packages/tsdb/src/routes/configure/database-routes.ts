import type { FastifyInstance } from 'fastify';
import { INTERNAL_DATABASE } from '../../domain/catalog/names.js';
import type { RouteDeps } from '../deps.js';
import type { FormatName } from '../formats/index.js';
import { formatOfName } from '../query/result-format.js';
import { sendAnswer, signalOf } from '../query/send-answer.js';
import { parseParameters, queryStringOf, readBoolean, readParameter } from '../query-string.js';
import { sendError } from '../to-wire.js';

/** Active ones first, each kind by name. */
const ALL_DATABASES =
  'SELECT database_name AS "iox::database", deleted FROM system.databases ORDER BY deleted, database_name';
const ACTIVE_DATABASES =
  'SELECT database_name AS "iox::database" FROM system.databases WHERE NOT deleted ORDER BY database_name';

/** Source: tsdb-http, "Databases". */
export function registerDatabaseRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const dialect = deps.settings.compat === 'influxdb3' ? 'text' : 'native';
  app.route({
    method: 'GET',
    url: '/api/v3/configure/database',
    errorHandler: (error, _request, reply) => sendError(error, reply, { dialect, log: deps.log }),
    handler: async (request, reply) => {
      const { format, showDeleted } = readListing(request.raw.url ?? '');
      const query = {
        database: INTERNAL_DATABASE,
        language: 'sql',
        text: showDeleted ? ALL_DATABASES : ACTIVE_DATABASES,
        params: new Map(),
        signal: signalOf(reply),
      } as const;
      await sendAnswer(query, format, { deps, reply });
      return reply;
    },
  });
}

function readListing(target: string): {
  readonly format: FormatName;
  readonly showDeleted: boolean;
} {
  const parameters = parseParameters(queryStringOf(target) ?? '');
  const format = formatOfName(readParameter(parameters, ['format']) ?? 'json');
  // Clients of this list read rows, whatever the shape of other answers.
  return {
    format: format === 'json' ? 'json_rows' : format,
    showDeleted: readBoolean(parameters, 'show_deleted') ?? false,
  };
}
