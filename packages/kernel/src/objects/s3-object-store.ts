import { Readable } from 'node:stream';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { crc32c } from '../checksum/crc32c.js';
import { boundedAgents } from './bounded-agents.js';
import { objectError } from './object-errors.js';
import { checkObjectName } from './object-name.js';
import type { BucketStore, ByteRange, ObjectInfo, UploadContent } from './object-store.js';
import { attemptsOf, isConflict, toStoreError } from './s3-errors.js';

export interface S3Options {
  readonly bucket: string;
  /** Prefix of all keys, without a slash at its ends; empty for none. */
  readonly prefix: string;
  /** `undefined` for AWS. Other stores are addressed by path (`http://host/bucket/key`). */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** `undefined` for the credential chain of AWS: files, environment, roles of the machine. */
  readonly credentials:
    | {
        readonly accessKeyId: string;
        readonly secretAccessKey: string;
        readonly sessionToken?: string | undefined;
      }
    | undefined;
  /** Maximum time without a byte in either direction; see `boundedAgents` for large uploads. */
  readonly timeoutMs: number;
  /** Additional attempts of a request that failed temporarily. */
  readonly retries: number;
  /** Called when a request ends. */
  readonly onRequest?: ((operation: S3Operation, isOk: boolean) => void) | undefined;
}

export const S3_OPERATIONS = ['put', 'get', 'head', 'list', 'delete'] as const;
export type S3Operation = (typeof S3_OPERATIONS)[number];

type Sdk = typeof import('@aws-sdk/client-s3');
interface Loaded {
  readonly sdk: Sdk;
  readonly client: S3Client;
}
type Call<T> = (client: S3Client, sdk: Sdk, abortSignal: AbortSignal) => Promise<T>;

const MAX_SOCKETS = 32;
/** Concurrent conditional requests for one key end within milliseconds. */
const CONFLICT_ATTEMPTS = 5;
const CONFLICT_DELAY_MS = 50;
const ignore = (): void => undefined;
/** Otherwise the client writes to standard error. All failures are reported to the caller. */
const NO_LOG = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
const CREATE_ONLY = { IfNoneMatch: '*' } as const;

/** Objects in a bucket of an S3-compatible store. */
export class S3ObjectStore implements BucketStore {
  readonly root: string;
  readonly readerProperties: Readonly<Record<string, string>>;
  readonly #options: S3Options;
  readonly #prefix: string;
  readonly #running = new Set<AbortController>();
  #loaded: Promise<Loaded> | undefined;
  #isClosed = false;

  constructor(options: S3Options) {
    const { bucket, prefix, endpoint, region } = options;
    this.#options = options;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.root = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.readerProperties = {
      's3.region': region,
      'client.region': region,
      ...(endpoint !== undefined && {
        's3.endpoint': endpoint,
        's3.path-style-access': 'true',
      }),
    };
  }

  async put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    const Body = Buffer.concat(parts);
    const checksum = { ChecksumCRC32C: toBase64(crc32c([Body])) };
    try {
      await this.#create(name, { Body, ...checksum });
    } catch (error) {
      if (!this.#mayBeOwn(error)) throw error;
      // An attempt whose response was lost may have created the object.
      if (!Buffer.from(await this.get(name)).equals(Body)) throw error;
    }
  }

  async upload(name: string, content: UploadContent): Promise<void> {
    const { sizeBytes } = content;
    const ChecksumCRC32C = toBase64(content.checksum);
    for (let attempt = 0; ; attempt++) {
      let localFailure: unknown;
      const read = async function* () {
        try {
          yield* content.read();
        } catch (error) {
          localFailure = error;
          throw error;
        }
      };
      const Body = Readable.from(read(), { objectMode: false });
      Body.on('error', () => undefined); // the client reports it, if it has begun to read
      try {
        return await this.#create(name, { Body, ContentLength: sizeBytes, ChecksumCRC32C });
      } catch (error) {
        if (localFailure !== undefined) throw localFailure;
        if (objectError.is(error, 'object_exists')) {
          if (await this.#isSame(name, content)) return;
          throw error;
        }
        // The client cannot repeat a request whose content is a stream.
        const isTemporary = !objectError.is(error) && !this.#isClosed;
        if (!isTemporary || attempt >= this.#options.retries) throw error;
      } finally {
        Body.destroy();
      }
    }
  }

  async get(name: string, range?: ByteRange): Promise<Uint8Array<ArrayBuffer>> {
    checkObjectName(name);
    if (range !== undefined && range.start >= range.end) return new Uint8Array(0);
    const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end - 1}` };
    try {
      return await this.#send('get', name, async (client, { GetObjectCommand }, abortSignal) => {
        const command = new GetObjectCommand({ ...this.#at(name), ...Range });
        const { Body } = await client.send(command, { abortSignal });
        const bytes = await Body?.transformToByteArray();
        return new Uint8Array(bytes ?? []);
      });
    } catch (error) {
      if (isBeyondEnd(error)) return new Uint8Array(0);
      throw error;
    }
  }

  async getRanges(
    name: string,
    ranges: readonly ByteRange[],
  ): Promise<readonly Uint8Array<ArrayBuffer>[]> {
    return await Promise.all(ranges.map((range) => this.get(name, range)));
  }

  async list(prefix: string): Promise<readonly ObjectInfo[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    if (folder !== '') checkObjectName(folder.slice(0, -1));
    const found: ObjectInfo[] = [];
    let token: string | undefined;
    do {
      const page = await this.#send(
        'list',
        prefix,
        (client, { ListObjectsV2Command }, abortSignal) =>
          client.send(
            new ListObjectsV2Command({
              Bucket: this.#options.bucket,
              Prefix: `${this.#prefix}${prefix}`,
              ContinuationToken: token,
            }),
            { abortSignal },
          ),
      );
      for (const { Key = '', Size = 0 } of page.Contents ?? [])
        found.push({ name: Key.slice(this.#prefix.length), sizeBytes: Size });
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async delete(name: string): Promise<void> {
    checkObjectName(name);
    try {
      await this.#send('delete', name, (client, { DeleteObjectCommand }, abortSignal) =>
        client.send(new DeleteObjectCommand(this.#at(name)), { abortSignal }),
      );
    } catch (error) {
      if (!objectError.is(error, 'object_not_found')) throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#running) controller.abort();
    // A client that could not be loaded has reported its failure to its first request.
    this.#loaded?.then(({ client }) => client.destroy()).catch(() => undefined);
  }

  /** Repeats while another conditional request for the same name is in progress. */
  async #create(
    name: string,
    content: {
      readonly Body: Buffer | Readable;
      readonly ContentLength?: number;
      readonly ChecksumCRC32C: string;
    },
  ): Promise<void> {
    checkObjectName(name);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#send('put', name, (client, { PutObjectCommand }, abortSignal) =>
          client.send(new PutObjectCommand({ ...this.#at(name), ...CREATE_ONLY, ...content }), {
            abortSignal,
          }),
        );
        return;
      } catch (error) {
        const { cause } = error as Error; // `#send` throws only errors
        const canRepeat = Buffer.isBuffer(content.Body) && attempt < CONFLICT_ATTEMPTS;
        if (!isConflict(cause) || !canRepeat) throw error;
        await new Promise((resolve) => setTimeout(resolve, attempt * CONFLICT_DELAY_MS));
      }
    }
  }

  #mayBeOwn(error: unknown): boolean {
    return objectError.is(error, 'object_exists') && attemptsOf(error.cause) > 1;
  }

  /** Stores without checksums are compared by size only. */
  async #isSame(name: string, { sizeBytes, checksum }: UploadContent): Promise<boolean> {
    const found = await this.#send('head', name, (client, { HeadObjectCommand }, abortSignal) =>
      client.send(new HeadObjectCommand({ ...this.#at(name), ChecksumMode: 'ENABLED' }), {
        abortSignal,
      }),
    );
    const { ChecksumCRC32C = toBase64(checksum) } = found;
    return found.ContentLength === sizeBytes && ChecksumCRC32C === toBase64(checksum);
  }

  #at(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#options.bucket, Key: `${this.#prefix}${name}` };
  }

  async #send<T>(operation: S3Operation, name: string, call: Call<T>): Promise<T> {
    const controller = new AbortController();
    this.#running.add(controller);
    let isOk = false;
    try {
      if (this.#isClosed) controller.abort();
      const { client, sdk } = await this.#load();
      const result = await call(client, sdk, controller.signal);
      isOk = true;
      return result;
    } catch (error) {
      const failure = toStoreError(error, name);
      isOk = objectError.is(failure, 'object_exists', 'object_not_found', 'object_corrupt');
      throw failure;
    } finally {
      this.#running.delete(controller);
      this.#options.onRequest?.(operation, isOk);
    }
  }

  #load(): Promise<Loaded> {
    this.#loaded ??= loadClient(this.#options);
    return this.#loaded;
  }
}

async function loadClient(options: S3Options): Promise<Loaded> {
  // Otherwise the client warns on standard error that its future versions need a newer Node.js.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const { endpoint, region, credentials, timeoutMs, retries } = options;
  const config: S3ClientConfig = {
    region,
    maxAttempts: retries + 1,
    retryMode: 'standard',
    logger: NO_LOG,
    // Each upload has a CRC32C; other checksums are not supported by all stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The client's own timeouts start seconds late, and do not cover the address lookup and the TLS handshake.
    requestHandler: boundedAgents({ timeoutMs, maxSockets: MAX_SOCKETS }),
    // The client would wait six seconds for a store that does not support it, and without the agents.
    expectContinueHeader: false,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials !== undefined && {
      credentials: {
        accessKeyId: credentials.accessKeyId,
        secretAccessKey: credentials.secretAccessKey,
        ...(credentials.sessionToken !== undefined && { sessionToken: credentials.sessionToken }),
      },
    }),
  };
  return { sdk, client: new sdk.S3Client(config) };
}

/** Source: Amazon S3, "PutObject", `x-amz-checksum-crc32c`: base64 of the four bytes, big-endian. */
function toBase64(checksum: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(checksum);
  return bytes.toString('base64');
}

/** Source: Amazon S3, "GetObject": 416 if a range begins after the last byte. */
function isBeyondEnd(error: unknown): boolean {
  const cause: unknown = Reflect.get(Object(error), 'cause');
  return Reflect.get(Object(cause), 'name') === 'InvalidRange';
}
