import { causesOf } from '../errors/causes-of.js';
import { StoreOutage } from '../relational/store-outage.js';
import { objectError } from './object-errors.js';

/** Codes with a status below 500 of requests that may succeed later. Source: Amazon S3, "Error responses". */
const TEMPORARY: ReadonlySet<string> = new Set([
  'ConditionalRequestConflict',
  'OperationAborted',
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TooManyRequests',
]);
/** Other codes with status 404 concern the bucket or, in some stores, the access key. */
const ABSENT: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound']);
const CHECKSUM_CODES: ReadonlySet<string> = new Set([
  'BadDigest',
  'InvalidDigest',
  'XAmzContentChecksumMismatch',
]);

const statusOf = (error: unknown): number | undefined => {
  const metadata: unknown = Reflect.get(Object(error), '$metadata');
  const status: unknown = Reflect.get(Object(metadata), 'httpStatusCode');
  return typeof status === 'number' ? status : undefined;
};

/** Returns the number of attempts that the client made before it reported the error. */
export const attemptsOf = (error: unknown): number => {
  const metadata: unknown = Reflect.get(Object(error), '$metadata');
  const attempts: unknown = Reflect.get(Object(metadata), 'attempts');
  return typeof attempts === 'number' ? attempts : 1;
};

/** Source: Amazon S3, "PutObject": 409 if another conditional request for the key is in progress. */
export const isConflict = (error: unknown): boolean => statusOf(error) === 409;

/**
 * Classifies a failure of the client: the object, the request, or the store. Messages contain the store's own text, but no
 * credentials.
 */
export function toStoreError(error: unknown, object: string): Error {
  const { name: code, message } = error instanceof Error ? error : new Error(String(error));
  const status = statusOf(error);
  if (status === 404 && ABSENT.has(code)) return objectError('object_not_found', object, error);
  if (status === 412) return objectError('object_exists', object, error);
  if (CHECKSUM_CODES.has(code)) return objectError('object_corrupt', object, error);
  if (code === 'CredentialsProviderError')
    return objectError(
      'store_refused',
      'no credentials found; set object_store.aws_access_key_id and object_store.aws_secret_access_key',
      error,
    );
  const isTemporary =
    status === undefined || status >= 500 || status === 429 || TEMPORARY.has(code);
  if (!isTemporary) return objectError('store_refused', `${status} ${code}: ${message}`, error);
  const reason = status === undefined ? networkReason(error) : `${status} ${code}`;
  return new StoreOutage(error, `the object store does not respond (${reason})`);
}

/** Only the code of a failed connection is useful to an operator. */
function networkReason(error: unknown): string {
  for (const cause of causesOf(error)) {
    const code: unknown = Reflect.get(Object(cause), 'code');
    if (typeof code === 'string') return code;
  }
  return error instanceof Error ? error.name : String(error);
}
