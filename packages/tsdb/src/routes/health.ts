import {
  type PlainAnswer,
  type PlainRequest,
  type PlainRoute,
  readsHealthInJson,
} from '@plinth/kernel';
import type { TsdbSettings } from '../config.js';

const TEXT = 'text/plain; charset=utf-8';

export const HEALTH_PATHS = ['/health', '/api/v1/health'] as const;
export const TO_HEALTH_CHECKS = { openable: 'health' } as const;

type Versions = Pick<TsdbSettings, 'reported_version' | 'reported_revision'>;

/** Source: tsdb-http, "Service endpoints". */
export function answerHealth(headers: PlainRequest['headers'], versions: Versions): PlainAnswer {
  if (!readsHealthInJson(headers)) {
    return { status: 200, headers: [['content-type', TEXT]], body: Buffer.from('OK') };
  }
  const health = {
    name: 'influxdb',
    message: 'ready for queries and writes',
    status: 'pass',
    checks: [],
    version: versions.reported_version,
    commit: versions.reported_revision,
  };
  const headerOfJson = ['content-type', 'application/json'] as const;
  return { status: 200, headers: [headerOfJson], body: Buffer.from(JSON.stringify(health)) };
}

/** For health checks that come before the other routes are there, and for whoever asks often. */
export function plainHealthRoutes(versions: Versions): readonly PlainRoute[] {
  return HEALTH_PATHS.map((path) => ({
    methods: ['GET'],
    path,
    access: TO_HEALTH_CHECKS,
    front: 'server',
    answer: async ({ headers }) => answerHealth(headers, versions),
  }));
}
