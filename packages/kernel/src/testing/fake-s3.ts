import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { crc32c } from '../checksum/crc32c.js';

const BUCKET = 'plinth';
const PAGE_KEYS = 3;

/** Ways in which a store differs from S3. */
export interface FakeS3Faults {
  /** Overwrites objects, like `s3rver`. */
  ignoresConditions?: boolean;
  /** Stores other bytes than the checksum describes, like `moto`. */
  ignoresChecksums?: boolean;
  /** Lists no object. */
  listsNothing?: boolean;
  /** Status and code of all responses. */
  refusal?: { readonly status: number; readonly code: string } | undefined;
  /** Accepts requests, and never responds. */
  isSilent?: boolean;
  /** Sends the head of each response and no content. */
  stallsContent?: boolean;
  /** Delay before each piece of a request is read, as over a slow link. */
  pieceDelayMs?: number;
  /** Number of stored objects whose response is lost. */
  lostPuts?: number;
}

/**
 * The requests of `S3ObjectStore`, with objects in memory, for tests that make a store fail. The wire tests use
 * real stores.
 * Source: Amazon S3 API reference.
 */
export class FakeS3 {
  readonly bucket = BUCKET;
  readonly objects = new Map<string, Buffer>();
  readonly faults: FakeS3Faults = {};
  /** Called before an object is stored. */
  onPut: ((key: string) => Promise<void>) | undefined;
  /** Method and key of each request. */
  readonly requests: string[] = [];
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch(() => response.destroy());
  });
  readonly #sockets = new Set<Socket>();

  static async start(): Promise<FakeS3> {
    const fake = new FakeS3();
    fake.#server.on('connection', (socket) => {
      fake.#sockets.add(socket);
      socket.on('close', () => fake.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://localhost');
    const [, bucket = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    this.requests.push(`${request.method} ${key}`);
    const { faults } = this;
    const body = await readAll(request, faults.pieceDelayMs);
    if (faults.isSilent === true) return;
    if (faults.refusal !== undefined)
      return refuse(response, faults.refusal.status, faults.refusal.code);
    if (bucket !== BUCKET) return refuse(response, 404, 'NoSuchBucket');
    if (key === '') return this.#list(url.searchParams, response);
    if (request.method === 'PUT') {
      await this.onPut?.(key);
      return this.#put(key, body, { request, response });
    }
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      response.writeHead(204).end();
      return;
    }
    this.#get(key, request, response);
  }

  #put(
    key: string,
    body: Buffer,
    { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): void {
    const isTaken = request.headers['if-none-match'] === '*' && this.objects.has(key);
    if (isTaken && this.faults.ignoresConditions !== true) {
      refuse(response, 412, 'PreconditionFailed');
      return;
    }
    const checksum = request.headers['x-amz-checksum-crc32c'];
    if (checksum !== checksumOf(body) && this.faults.ignoresChecksums !== true) {
      refuse(response, 400, 'BadDigest');
      return;
    }
    this.objects.set(key, body);
    if ((this.faults.lostPuts ?? 0) > 0) {
      this.faults.lostPuts = (this.faults.lostPuts ?? 0) - 1;
      response.destroy();
      return;
    }
    response.writeHead(200, { etag: '"e"' }).end();
  }

  #get(key: string, request: IncomingMessage, response: ServerResponse): void {
    const found = this.objects.get(key);
    if (found === undefined) {
      refuse(response, 404, 'NoSuchKey');
      return;
    }
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (start !== undefined && Number(start) >= found.byteLength) {
      refuse(response, 416, 'InvalidRange');
      return;
    }
    const bytes = start === undefined ? found : found.subarray(Number(start), Number(end) + 1);
    response.writeHead(start === undefined ? 200 : 206, {
      'content-length': bytes.byteLength,
      'x-amz-checksum-crc32c': checksumOf(found),
    });
    if (this.faults.stallsContent === true) response.flushHeaders();
    else response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const names = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after);
    const page = this.faults.listsNothing === true ? [] : names.sort().slice(0, PAGE_KEYS);
    const isTruncated = page.length > 0 && page.length < names.length;
    const contents = page.map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>${this.objects.get(key)?.byteLength}</Size></Contents>`,
    );
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    respond(
      response,
      200,
      `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    );
  }
}

const checksumOf = (bytes: Uint8Array): string => {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32c([bytes]));
  return sum.toString('base64');
};

async function readAll(request: IncomingMessage, delayMs = 0): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) {
    pieces.push(piece);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  return Buffer.concat(pieces);
}

const refuse = (response: ServerResponse, status: number, code: string): void =>
  respond(response, status, `<Error><Code>${code}</Code><Message>test</Message></Error>`);

function respond(response: ServerResponse, status: number, text: string): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>${text}`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
}
