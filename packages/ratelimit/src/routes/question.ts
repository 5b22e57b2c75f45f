import { ValidationFailed } from '@plinth/kernel';
import type { Question } from '../domain/decision-service.js';
import { ANY_ENDPOINT } from '../model/endpoint.js';
import type { Question as Asked } from './description.js';

/** Throws `ValidationFailed` when nobody is meant. Source: rate-limits, section 12.1. */
export function readQuestion(asked: Asked): Question & { readonly objects: number } {
  const { graph = false } = asked;
  const { cost = 1, mutation = false } = typeof graph === 'object' ? graph : {};
  const isGraph = graph !== false;
  return {
    caller: callerOf(asked),
    resource: asked.resource ?? (isGraph ? 'graphql' : 'core'),
    endpoint: asked.endpoint ?? ANY_ENDPOINT,
    method: (asked.method ?? 'GET').toUpperCase(),
    cost: asked.cost ?? cost,
    points: asked.points ?? undefined,
    content: asked.content ?? false,
    contentPerMinute: asked.content_per_minute ?? undefined,
    graph: isGraph && { mutation },
    heavy: asked.heavy ?? 0,
    lease: asked.lease ?? false,
    dryRun: asked.dry_run ?? false,
    objects: asked.objects ?? 0,
  };
}

function callerOf({ identity, authorization, ip }: Asked): Question['caller'] {
  if (identity !== undefined) return { by: 'identity', key: identity };
  if (authorization !== undefined) return { by: 'authorization', header: authorization, ip };
  if (ip !== undefined) return { by: 'ip', ip };
  const message = 'one of identity, authorization and ip is needed';
  throw new ValidationFailed([{ resource: 'Check', field: 'identity', code: 'custom', message }]);
}
