import {
  type PlainAnswer,
  type PlainRequest,
  type PlainRoute,
  readsHealthInJson,
} from '@plinth/kernel';
import type { TsdbSettings } from '../config.js';
import { failureAnswer } from './to-wire.js';

const TEXT = 'text/plain; charset=utf-8';

export const HEALTH_PATHS = ['/health', '/api/v1/health'] as const;
export const TO_HEALTH_CHECKS = { openable: 'health' } as const;

interface HealthNeeds {
  readonly settings: Pick<TsdbSettings, 'reported_version' | 'reported_revision' | 'compat'>;
  /** Why the server should not be sent requests; `undefined` when it should. */
  obstacle(): Promise<string | undefined>;
}

/** Source: tsdb-http, "Service endpoints"; the failure in JSON is that of InfluxDB 2.x. */
export async function answerHealth(
  headers: PlainRequest['headers'],
  needs: HealthNeeds,
): Promise<PlainAnswer> {
  const why = await needs.obstacle();
  if (!readsHealthInJson(headers)) {
    if (why === undefined) {
      return { status: 200, headers: [['content-type', TEXT]], body: Buffer.from('OK') };
    }
    const text = `not ready: ${why}`;
    return failureAnswer(
      503,
      needs.settings.compat === 'influxdb3' ? text : { error: text, data: {} },
    );
  }
  const health = {
    name: 'influxdb',
    message: why ?? 'ready for queries and writes',
    status: why === undefined ? 'pass' : 'fail',
    checks: [],
    version: needs.settings.reported_version,
    commit: needs.settings.reported_revision,
  };
  return failureAnswer(why === undefined ? 200 : 503, health);
}

/** For health checks that come before the other routes are there, and for whoever asks often. */
export function plainHealthRoutes(needs: HealthNeeds): readonly PlainRoute[] {
  return HEALTH_PATHS.map((path) => ({
    methods: ['GET'],
    path,
    access: TO_HEALTH_CHECKS,
    front: 'server',
    answer: ({ headers }) => answerHealth(headers, needs),
  }));
}
