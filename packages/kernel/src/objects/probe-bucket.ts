import type { Random } from '../clock/random.js';
import { objectError } from './object-errors.js';
import type { BucketStore } from './object-store.js';

const OWNER_OBJECT = 'cluster.json';
const PROBE_FOLDER = 'probe';
const CONCURRENT_CREATES = 8;

/** The only writer of a bucket. A second writer would remove the objects of the first. */
export interface BucketOwner {
  readonly clusterUuid: string;
  /** Differs between a data folder and a restored copy. */
  readonly folderId: string;
}

/**
 * Creates an error for a store that lacks a guarantee that publishing depends on, or that belongs
 * to another server.
 */
const unusable = (reason: string): Error => objectError('store_unusable', reason);

/**
 * Checks that a store keeps the guarantees of `ObjectStore`, and that no other server writes to it. The first owner is
 * recorded in the bucket. Throws `store_unusable` or `store_refused` if the store must not be used, and `StoreOutage`
 * if it is unavailable.
 * @returns warnings about weaker guarantees that do not prevent the use of the store
 */
export async function probeBucket(
  bucket: BucketStore,
  { owner, random }: { readonly owner: BucketOwner; readonly random: Random },
): Promise<{ readonly warnings: readonly string[] }> {
  const isOwn = await checkOwner(bucket, owner);
  const name = `${PROBE_FOLDER}/${random.uuidV4()}`;
  const warnings: string[] = [];
  try {
    await checkCreateOnly(bucket, name);
    await checkReads(bucket, name);
    if (!(await rejectsCorruption(bucket, `${name}-corrupt`)))
      warnings.push('the object store does not verify checksums; corrupt uploads are not detected');
  } finally {
    // Left-over probes do no harm; the first failure is more informative.
    await Promise.allSettled([bucket.delete(name), bucket.delete(`${name}-corrupt`)]);
  }
  if (!isOwn) await takeOwnership(bucket, owner);
  return { warnings };
}

/** Returns false if the bucket has no owner. */
async function checkOwner(bucket: BucketStore, owner: BucketOwner): Promise<boolean> {
  let text: string;
  try {
    text = Buffer.from(await bucket.get(OWNER_OBJECT)).toString();
  } catch (error) {
    if (objectError.is(error, 'object_not_found')) return false;
    throw error;
  }
  const found = parseOwner(text);
  if (found?.clusterUuid === owner.clusterUuid && found.folderId === owner.folderId) return true;
  throw unusable(
    `${bucket.root}/${OWNER_OBJECT} names another server or data folder; use another bucket or prefix, or delete that object if no other server uses it`,
  );
}

function parseOwner(text: string): BucketOwner | undefined {
  try {
    const { format, cluster_uuid, folder_id } = JSON.parse(text);
    if (format !== 1) return undefined;
    return { clusterUuid: String(cluster_uuid), folderId: String(folder_id) };
  } catch {
    return undefined; // another program wrote it
  }
}

async function takeOwnership(bucket: BucketStore, owner: BucketOwner): Promise<void> {
  const { clusterUuid: cluster_uuid, folderId: folder_id } = owner;
  const text = `${JSON.stringify({ format: 1, cluster_uuid, folder_id })}\n`;
  try {
    await bucket.put(OWNER_OBJECT, [Buffer.from(text)]);
  } catch (error) {
    if (!objectError.is(error, 'object_exists')) throw error;
    await checkOwner(bucket, owner);
  }
}

async function checkCreateOnly(bucket: BucketStore, name: string): Promise<void> {
  const creates = await Promise.allSettled(
    Array.from({ length: CONCURRENT_CREATES }, (_, index) => bucket.put(name, [contentOf(index)])),
  );
  for (const create of creates) {
    if (create.status === 'rejected' && !objectError.is(create.reason, 'object_exists'))
      throw create.reason;
  }
  const winnerCount = creates.filter(({ status }) => status === 'fulfilled').length;
  if (winnerCount !== 1)
    throw unusable(
      `${winnerCount} of ${CONCURRENT_CREATES} concurrent requests created the same object, but only one may (If-None-Match: *); use a store that supports conditional writes`,
    );
}

async function checkReads(bucket: BucketStore, name: string): Promise<void> {
  const listed = await bucket.list(name);
  if (!listed.some((object) => object.name === name))
    throw unusable('a new object is not listed at once; use a store with consistent lists');
  const complete = Buffer.from(await bucket.get(name));
  const range = Buffer.from(await bucket.get(name, { start: 1, end: 5 }));
  const isWritten = Array.from({ length: CONCURRENT_CREATES }, (_, index) => contentOf(index)).some(
    (content) => content.equals(complete),
  );
  if (!isWritten || !range.equals(complete.subarray(1, 5)))
    throw unusable('a read or a ranged read returns other bytes than were stored');
}

const contentOf = (index: number): Buffer => Buffer.from(`probe ${index}`);

async function rejectsCorruption(bucket: BucketStore, name: string): Promise<boolean> {
  const content = Buffer.from('probe');
  try {
    await bucket.upload(name, {
      sizeBytes: content.byteLength,
      checksum: 0, // not the checksum of the content
      async *read() {
        yield content;
      },
    });
    return false;
  } catch (error) {
    if (objectError.is(error, 'object_corrupt', 'store_refused')) return true;
    throw error;
  }
}
