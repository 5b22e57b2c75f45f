import { invalidField } from '@plinth/kernel';
import type { CheckRequest } from '../domain/decision-service.js';
import { ANY_ENDPOINT } from '../model/endpoint.js';
import type { CheckBody } from './description.js';

/**
 * Parses a check. Throws `ValidationFailed` when it names no identity. Source: rate-limits, section
 * 12.1.
 */
export function readCheck(body: CheckBody): CheckRequest & { readonly objects: number } {
  const { graph = false } = body;
  const { cost = 1, mutation = false } = typeof graph === 'object' ? graph : {};
  const isGraph = graph !== false;
  return {
    caller: callerOf(body),
    resource: body.resource ?? (isGraph ? 'graphql' : 'core'),
    endpoint: body.endpoint ?? ANY_ENDPOINT,
    method: (body.method ?? 'GET').toUpperCase(),
    cost: body.cost ?? cost,
    points: body.points ?? undefined,
    content: body.content ?? false,
    contentPerMinute: body.content_per_minute ?? undefined,
    graph: isGraph && { mutation },
    heavy: body.heavy ?? 0,
    lease: body.lease ?? false,
    dryRun: body.dry_run ?? false,
    ...countOf(body),
    objects: body.objects ?? 0,
  };
}

function countOf({ count, dry_run }: CheckBody): { readonly count?: number } {
  if (typeof count !== 'number') return {};
  if (dry_run === true) return { count };
  const message = 'count is accepted only with dry_run: true';
  throw invalidField({ resource: 'Check', field: 'count', message });
}

function callerOf({ identity, authorization, ip }: CheckBody): CheckRequest['caller'] {
  if (identity !== undefined) return { by: 'identity', key: identity };
  if (authorization !== undefined) return { by: 'authorization', header: authorization, ip };
  if (ip !== undefined) return { by: 'ip', ip };
  const message = 'missing caller; send identity, authorization or ip';
  throw invalidField({ resource: 'Check', field: 'identity', message });
}
