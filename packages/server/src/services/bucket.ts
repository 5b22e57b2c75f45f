import {
  type BucketStore,
  type Metrics,
  S3_OPERATIONS,
  S3ObjectStore,
  type S3Operation,
} from '@plinth/kernel';
import type { Settings } from '../settings.js';

/**
 * Returns one line for each combination that cannot work. Credentials in the environment are ignored without a
 * bucket.
 */
export function bucketProblems({ openTables, objectStore, server }: Settings): readonly string[] {
  const { bucket, aws_endpoint, aws_allow_http } = objectStore;
  const { aws_access_key_id, aws_secret_access_key } = objectStore;
  if (openTables.store !== 's3') {
    return bucket === undefined
      ? []
      : ['object_store.bucket: needs open_tables.store = s3; set it, or remove the bucket'];
  }
  const problems: string[] = [];
  if (bucket === undefined) problems.push('open_tables.store: s3 needs object_store.bucket');
  if (server.object_store === 'memory')
    problems.push('open_tables.store: s3 needs server.object_store = file');
  if (aws_endpoint?.startsWith('http:') === true && !aws_allow_http)
    problems.push(
      'object_store.aws_endpoint: an http address needs object_store.aws_allow_http; use https, or allow it',
    );
  if (aws_endpoint !== undefined && !URL.canParse(aws_endpoint))
    problems.push('object_store.aws_endpoint: not a valid URL; check host name and port');
  if ((aws_access_key_id === undefined) !== (aws_secret_access_key === undefined))
    problems.push(
      'object_store.aws_secret_access_key: set it together with object_store.aws_access_key_id, or neither',
    );
  return problems;
}

/**
 * Opens the bucket of published tables; `undefined` if they are in the data folder. The client is loaded by the first
 * request.
 */
export function openBucket(
  { openTables, objectStore }: Settings,
  metrics: Metrics,
): BucketStore | undefined {
  const { bucket } = objectStore;
  if (openTables.store !== 's3' || bucket === undefined) return undefined;
  const accessKeyId = objectStore.aws_access_key_id;
  const secretAccessKey = objectStore.aws_secret_access_key;
  return new S3ObjectStore({
    bucket,
    prefix: objectStore.prefix,
    endpoint: objectStore.aws_endpoint,
    region: objectStore.aws_default_region,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey, sessionToken: objectStore.aws_session_token },
    timeoutMs: objectStore.timeout_ms,
    retries: objectStore.retries,
    onRequest: countRequests(metrics),
  });
}

function countRequests(metrics: Metrics): (operation: S3Operation, isOk: boolean) => void {
  const counts = new Map(
    S3_OPERATIONS.flatMap((operation) => [`${operation} ok`, `${operation} failed`]).map((key) => [
      key,
      0,
    ]),
  );
  metrics.add({
    name: 'plinth_object_store_requests_total',
    help: 'Requests to the object store; failed ones after all retries.',
    type: 'counter',
    labels: ['operation', 'result'],
    samples: () =>
      [...counts].map(([key, value]) => {
        const [operation = '', result = ''] = key.split(' ');
        return { labels: { operation, result }, value };
      }),
  });
  return (operation, isOk) => {
    const key = `${operation} ${isOk ? 'ok' : 'failed'}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
}
