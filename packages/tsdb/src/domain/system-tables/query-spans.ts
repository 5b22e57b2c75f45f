import type { RequestSpan } from '@plinth/kernel';
import type { LoggedQuery } from '@plinth/tsdb-engine/query/log/logged-query.js';
import { digestOf } from './statement-digest.js';

/** Statement keywords that traces show. Other first words come from the client and are omitted. */
const OPERATION =
  /^\s*(alter|create|delete|describe|drop|explain|grant|insert|kill|revoke|select|set|show|update|values|with)\b/i;

/**
 * Records planning and execution of a finished query as child spans of its request, without the
 * statement text.
 */
export function traceQuery(query: LoggedQuery, span: RequestSpan): void {
  const {
    properties,
    startMs,
    slotAcquiredMs = startMs,
    preparedMs,
    endMs,
    phase,
    rowCount,
  } = query;
  if (endMs === undefined) return;
  const operation = OPERATION.exec(properties.text)?.[1]?.toUpperCase();
  const attributes = {
    'db.system.name': 'influxdb',
    ...(properties.database && { 'db.namespace': properties.database }),
    ...(operation && { 'db.operation.name': operation }),
    'plinth.query.id': properties.id,
    'plinth.query.language': properties.language,
    'plinth.query.digest': digestOf(properties.text, properties.language),
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
