import type { RequestSpan } from '@plinth/kernel';
import type { LoggedQuery } from '@plinth/tsdb-engine/query/log/logged-query.js';
import { digestOf } from './statement-digest.js';

/** Statement keywords shown in traces. Other first words come from the client and are omitted. */
const OPERATION =
  /^\s*(alter|create|delete|describe|drop|explain|grant|insert|kill|revoke|select|set|show|update|values|with)\b/i;

/**
 * Records planning and execution of a finished query as child spans of its request, without the
 * statement text.
 */
export function traceQuery(query: LoggedQuery, span: RequestSpan): void {
  const { facts, startMs, slotAcquiredMs = startMs, preparedMs, endMs, phase, rowCount } = query;
  if (endMs === undefined) return;
  const operation = OPERATION.exec(facts.text)?.[1]?.toUpperCase();
  const attributes = {
    'db.system.name': 'influxdb',
    ...(facts.database && { 'db.namespace': facts.database }),
    ...(operation && { 'db.operation.name': operation }),
    'plinth.query.id': facts.id,
    'plinth.query.language': facts.language,
    'plinth.query.digest': digestOf(facts.text, facts.language),
  };
  const isFailure = phase !== 'success';
  span.child({
    ...{ name: 'plan', attributes, isFailure: preparedMs === undefined && isFailure },
    ...{ startMonotonicMs: slotAcquiredMs, endMonotonicMs: preparedMs ?? endMs },
  });
  if (preparedMs === undefined) return;
  span.child({
    ...{ name: 'execute', isFailure, startMonotonicMs: preparedMs, endMonotonicMs: endMs },
    attributes: {
      ...attributes,
      'db.response.returned_rows': rowCount,
      'plinth.query.outcome': phase,
    },
  });
}
