/** What health checks are described as. */
export const HEALTH_SUMMARY =
  'Says OK when writes are taken, storage can be reached and no stop has begun';

/** What they say in place of it. */
export const notReady = (why: string): string => `not ready: ${why}`;

/**
 * Whether a client reads health checks in JSON, as InfluxDB 2.x answers them. The generated clients of version 2 ask for JSON
 * and for nothing else, or name themselves and ask for nothing; everybody else knows the plain word.
 */
export function readsHealthInJson(headers: {
  readonly accept?: string | undefined;
  readonly 'user-agent'?: string | undefined;
}): boolean {
  const { accept } = headers;
  if (accept !== undefined) return /^application\/json\s*(;[^,]*)?$/.test(accept);
  return headers['user-agent']?.startsWith('influxdb-client-') ?? false;
}
