import type { Logger, Principal } from '@plinth/kernel';
import type { LoggedQuery } from '@plinth/tsdb-engine/query/log/logged-query.js';
import { digestOf } from './statement-digest.js';

/**
 * Logs a finished query that took at least `thresholdMs`, without the passwords in its text.
 * @param thresholdMs `undefined` disables the log.
 */
export function logIfSlow(query: LoggedQuery, thresholdMs: number | undefined, log: Logger): void {
  if (thresholdMs === undefined || query.ageMs < thresholdMs) return;
  const { properties, phase, ageMs, fileCount, partitionCount, rowCount, planNs, computeNs } =
    query;
  const { id, language, text, principal } = properties;
  log.warn(
    {
      ...{ query: id, language, text, digest: digestOf(text, language) },
      ...{ principal: nameOf(principal), outcome: phase },
      durationMs: Math.round(ageMs),
      planMs: toMs(planNs),
      computeMs: toMs(computeNs),
      ...{ rowCount, peakReservedBytes: query.peakReservedBytes, fileCount, partitionCount },
    },
    'slow query',
  );
}

const toMs = (ns: bigint | undefined): number | undefined =>
  ns === undefined ? undefined : Number(ns / 1_000_000n);

function nameOf(principal: Principal | undefined): string | undefined {
  if (principal?.kind === 'admin') return principal.tokenName;
  return principal?.kind === 'grantee' ? principal.name : undefined;
}
