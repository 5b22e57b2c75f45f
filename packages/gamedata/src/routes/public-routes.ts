import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BULK_NAMES, type BulkName } from '../domain/bulk-files.js';
import { ParameterInvalid, RecordNotFound, VersionUnknown } from '../errors.js';
import { KINDS, type Kind } from '../model/kinds.js';
import { listPage } from './pages/list-page.js';
import { calibersPage } from './pages/record-pages.js';
import { IMMUTABLE, JSON_TYPE, publicHeaders } from './public-headers.js';
import { findReply, makeReply, type PublicRead, type PublicReadParts } from './public-reads.js';
import type { Reply, ReplyCache } from './reply-cache.js';
import { finish, isFresh, negotiate, sendFinished, writeOut } from './send.js';

export interface PublicRouteParts extends PublicReadParts {
  readonly referencePage: () => string;
}

const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8';

/** Public reads, files and the page about them. */
export function registerPublicRoutes(
  app: FastifyInstance,
  reads: readonly PublicRead[],
  parts: PublicRouteParts,
): void {
  for (const read of reads) {
    const { path } = read;
    const name = /:([^/]+)$/.exec(path)?.[1];
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      const { url } = request;
      const known = parts.cache.byUrl(url);
      if (known !== undefined) return send(request, reply, known, parts.cache);
      const parameter = () => (name === undefined ? '' : pathParameter(request, name));
      return findReply(parts, read, { url, parameter }).then((found) =>
        send(request, reply, found, parts.cache),
      );
    };
    for (const url of path === '/' ? ['/'] : [path, `${path}/`]) {
      app.route({ method: ['GET', 'HEAD'], url, handler });
    }
  }
  for (const suffix of ['', '/']) {
    app.route({
      method: ['GET', 'HEAD'],
      url: `/api/bulk/:version/:file${suffix}`,
      handler: (request, reply) => sendBulk(request, reply, parts),
    });
    app.route({
      method: ['GET', 'HEAD'],
      url: `/api/docs${suffix}`,
      handler: (_request, reply) =>
        reply
          .headers({
            ...publicHeaders(parts.cors),
            'cache-control': 'public, max-age=300',
            'content-security-policy':
              "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
          })
          .type('text/html; charset=utf-8')
          .send(parts.referencePage()),
    });
  }
}

/**
 * Makes lists and what searches need in advance, so that the first visitor does not wait; each when `calm` resolves, so that
 * nobody else waits.
 */
export async function warmUp(
  parts: PublicRouteParts,
  calm: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (const path of [
    ...KINDS.map((kind: Kind) => `/api/${kind}`),
    '/api/ammunition/calibers/list',
  ]) {
    await calm();
    const target = { path, query: '' };
    const kind = KINDS.find((one) => path === `/api/${one}`);
    const page =
      kind === undefined ? await calibersPage(parts, target) : await listPage(parts, kind, target);
    const reply = parts.cache.byUrl(path) ?? makeReply(page, parts);
    if (page.edition !== parts.library.current) return;
    parts.cache.put(path, path, reply);
    await parts.cache.code(reply, 'gzip', true);
    await parts.cache.code(reply, 'br', true);
  }
  const edition = parts.library.current;
  const isWanted = (): boolean => !signal.aborted && edition === parts.library.current;
  await calm();
  await parts.catalog.warmUp(edition.set, isWanted);
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Reply,
  cache: ReplyCache,
): FastifyReply | Promise<FastifyReply> {
  const finished = finish(request.raw.headers, found, cache);
  if (finished instanceof Promise)
    return finished.then((made) => sendFinished(request, reply, made));
  return sendFinished(request, reply, finished);
}

function pathParameter(request: FastifyRequest, name: string): string {
  const value: unknown = Reflect.get(Object(request.params), name);
  const text = typeof value === 'string' ? value : '';
  if (!text.includes('\0')) return text;
  throw new ParameterInvalid({ param: name, message: `${name} holds a NUL character` });
}

async function sendBulk(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PublicRouteParts,
): Promise<FastifyReply> {
  await parts.ready();
  parts.library.assertReadable();
  const versionText = pathParameter(request, 'version');
  const name = pathParameter(request, 'file');
  if (!(BULK_NAMES as readonly string[]).includes(name)) throw new RecordNotFound('Not found');
  const common = { ...publicHeaders(parts.cors), vary: 'Accept-Encoding' };
  if (versionText === 'latest') {
    const location = `/api/bulk/v${parts.library.current.version.version}/${name}`;
    return reply
      .headers({ ...common, location, 'cache-control': parts.cacheControl })
      .code(302)
      .type(JSON_TYPE)
      .send(JSON.stringify({ location }));
  }
  const number = /^v([1-9]\d{0,9})$/.exec(versionText)?.[1];
  if (number === undefined) throw new VersionUnknown({ version: versionText });
  const [, format] = name.split('.');
  const type = format === 'ndjson' ? NDJSON_TYPE : JSON_TYPE;
  const coding = negotiate(request.raw.headers, type);
  const edition = await parts.library.edition(Number(number));
  const file = await parts.bulk.file(edition, name as BulkName); // it is among the names
  const isPacked = coding === 'gzip' || coding === 'br';
  const etag = Buffer.from(file.sha256, 'hex').toString('base64url').slice(0, 22);
  const headers = {
    ...common,
    'content-type': type,
    'cache-control': IMMUTABLE,
    'x-data-version': number,
    'last-modified': new Date(edition.version.publishedMs).toUTCString(),
    etag: `"${etag}${isPacked ? '-gz' : ''}"`,
  };
  if (isFresh(request.raw.headers, { etag, lastModifiedMs: edition.version.publishedMs })) {
    return writeOut(reply, 304, headers);
  }
  const sized = isPacked
    ? { ...headers, 'content-encoding': 'gzip', 'content-length': file.gzip.length }
    : { ...headers, 'content-length': file.sizeBytes };
  if (request.method === 'HEAD') return writeOut(reply, 200, sized);
  if (isPacked) return writeOut(reply, 200, sized, file.gzip);
  const unpacked = createGunzip();
  unpacked.end(file.gzip);
  return reply.headers(sized).send(unpacked);
}
