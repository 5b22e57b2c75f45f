import {
  emptyResponse,
  type HeaderList,
  type HttpRequest,
  type HttpResponse,
  namesTag,
  OpenApi,
  type Route,
} from '@plinth/kernel';
import { IMAGES_PATH } from '../domain/data/image-links.js';
import { gameDataError } from '../errors.js';
import type { ImageFile, Images } from '../model/images.js';

/** An SVG opened directly is a document, so it must not run or load anything. */
const NOTHING_RUNS = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Serves the images to which records refer. Source: gamedata, section 3. */
export function imageRoutes(parts: {
  readonly images: Images;
  /** Resolves after the first scan of the folder. */
  readonly ready: () => Promise<void> | undefined;
  readonly cacheControl: string;
}): readonly Route[] {
  const { images, cacheControl } = parts;
  return [
    {
      method: 'GET',
      path: `${IMAGES_PATH}*`,
      access: 'public',
      about: { summary: 'Get an image of a record' },
      output: {
        200: OpenApi.response('the image'),
        304: OpenApi.response('not modified since the given ETag'),
      },
      errors: { 404: 'image not found' },
      async handle(request) {
        await parts.ready();
        const file = await images.find(request.parameters['*'] ?? '');
        if (file === undefined) throw gameDataError('not_found', 'Not found');
        return fileResponse({ file, images }, request, [['cache-control', cacheControl]]);
      },
    },
  ];
}

function fileResponse(
  { file, images }: { readonly file: ImageFile; readonly images: Images },
  { headers }: HttpRequest,
  common: HeaderList,
): HttpResponse {
  const { sizeBytes, modifiedMs, type } = file;
  // Changed content has a different time or size.
  const etag = `"${sizeBytes.toString(36)}-${Math.round(modifiedMs * 1000).toString(36)}"`;
  const about: HeaderList = [
    ...common,
    ['etag', etag],
    ['last-modified', new Date(modifiedMs).toUTCString()],
  ];
  if (namesTag(headers['if-none-match'], etag)) return emptyResponse(304, about);
  const all: HeaderList = [
    ...about,
    ['content-type', type],
    ['content-security-policy', NOTHING_RUNS],
  ];
  return { status: 200, headers: all, body: undefined, rest: images.read(file), sizeBytes };
}
