import { CronSchedule } from '@plinth/kernel';
import type { TriggerSpecification } from '@plinth/tsdb-model/plugins/trigger.js';

/** Times at which a trigger fires. */
export interface Schedule {
  /** Returns the first time after `afterNs`; `undefined` if there is none. */
  nextNs(afterNs: bigint): bigint | undefined;
}

/**
 * Returns `undefined` for triggers without a schedule. Source: processing-engine, "Scheduling and
 * delivery".
 */
export function scheduleOf(specification: TriggerSpecification): Schedule | undefined {
  switch (specification.kind) {
    case 'every': {
      // Multiples of the interval since 1970, so that `every:1h` fires on the hour.
      const { intervalNs } = specification;
      return { nextNs: (afterNs) => (afterNs / intervalNs + 1n) * intervalNs };
    }
    case 'cron': {
      const cron = CronSchedule.parse(specification.expression);
      return cron && cronSchedule(cron);
    }
    default:
      return undefined;
  }
}

function cronSchedule(cron: CronSchedule): Schedule {
  return {
    nextNs(afterNs) {
      const nextMs = cron.nextMs(Number(afterNs / 1_000_000n));
      return nextMs === undefined ? undefined : BigInt(nextMs) * 1_000_000n;
    },
  };
}
