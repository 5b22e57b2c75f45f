import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HardDeletion } from '../../domain/catalog/deleted-resources.js';
import { INTERNAL_DATABASE } from '../../domain/catalog/names.js';
import type { RouteDeps } from '../deps.js';
import { ParameterInvalid } from '../errors.js';
import type { FormatName } from '../formats/index.js';
import { signalOf } from '../plain-request.js';
import { answerQuery } from '../query/answer-query.js';
import { formatOfName } from '../query/result-format.js';
import { parseParameters, queryStringOf, readBoolean, readParameter } from '../query-string.js';
import { sendAnswer, sendError } from '../to-wire.js';
import { parseRetention } from './human-time.js';
import { ManagementInput } from './management-input.js';

/** Active ones first, each kind by name. */
const ALL_DATABASES =
  'SELECT database_name AS "iox::database", deleted FROM system.databases ORDER BY deleted, database_name';
const ACTIVE_DATABASES =
  'SELECT database_name AS "iox::database" FROM system.databases WHERE NOT deleted ORDER BY database_name';

const DATABASE = '/api/v3/configure/database';
const RETENTION = `${DATABASE}/retention_period`;

/** Source: tsdb-http, "Databases" and "Deletion life cycle". */
export function registerDatabaseRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { catalog, engine } = deps;
  const errorHandler = managementErrors(deps);
  app.get(DATABASE, { errorHandler }, async (request, reply) => {
    const { format, showDeleted } = readListing(request.raw.url ?? '');
    const query = {
      database: INTERNAL_DATABASE,
      language: 'sql',
      text: showDeleted ? ALL_DATABASES : ACTIVE_DATABASES,
      params: new Map(),
      signal: signalOf(reply),
    } as const;
    sendAnswer(reply, await answerQuery(query, format, deps));
    return reply;
  });
  app.post(DATABASE, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    const retentionNs = input.retention('retention_period');
    await catalog.createDatabase(input.requiredText('db'), retentionNs);
    return sendDone(reply);
  });
  app.put(DATABASE, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    const retentionNs = input.retention('retention_period');
    await catalog.setRetention(input.requiredText('db'), retentionNs);
    return sendDone(reply);
  });
  app.delete(DATABASE, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.ofQuery(request);
    const hardDelete = input.hardDeletion();
    await catalog.deletions.deleteDatabase(input.requiredText('db'), asAsked(hardDelete, deps));
    engine.removeDeletedSoon();
    return sendDone(reply);
  });
  app.post(`${DATABASE}/undelete`, { errorHandler }, async (request, reply) => {
    await catalog.deletions.undeleteDatabase(ManagementInput.of(request).requiredText('db'));
    return sendDone(reply);
  });
  app.post(RETENTION, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    const time = parseRetention(input.requiredText('duration'));
    if (!('ns' in time)) {
      throw new ParameterInvalid(`Cannot parse the given human time: ${time.fault}`);
    }
    await catalog.setRetention(input.requiredText('db'), time.ns);
    return reply.code(204).send();
  });
  app.delete(RETENTION, { errorHandler }, async (request, reply) => {
    await catalog.setRetention(ManagementInput.ofQuery(request).requiredText('db'), undefined);
    return reply.code(204).send();
  });
}

/** 200 without a body, and without a type of what is not there. */
export function sendDone(reply: FastifyReply): FastifyReply {
  return reply.code(200).send();
}

/** Answers failures of management calls. */
export function managementErrors(deps: RouteDeps) {
  const dialect = deps.settings.compat === 'influxdb3' ? 'text' : 'native';
  return (error: Error, _request: unknown, reply: FastifyReply): void =>
    sendError(error, reply, { dialect, log: deps.log });
}

/** Source: tsdb-http, "Seed versus real system", D12. */
export function asAsked(choice: HardDeletion, { settings }: RouteDeps): HardDeletion {
  return choice.kind === 'absent' && settings.compat === 'influxdb3' ? { kind: 'default' } : choice;
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
