import {
  type ApiConventions,
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  type HttpService,
  OpenApi,
  type Random,
  type Route,
} from '@plinth/kernel';
import type { BuiltFiles } from '../http/files/built-files.js';
import { fileResponse, missingResponse } from '../http/files/file-responses.js';
import { shellResponse } from './console-responses.js';

const HOME = '/console/';
const NOT_BUILT = 'console not built: run "npm run build" in the checkout of this server\n';

/** Creates the web console: public static files. Their data comes from the API, which requires a credential. */
export function createConsole(deps: {
  readonly files: BuiltFiles;
  readonly conventions: ApiConventions;
  /**
   * Returns the API conventions for `/` when the client is not a browser. Called after all services have registered their
   * paths.
   */
  conventionsOf(path: string): ApiConventions;
  readonly random: Random;
}): HttpService {
  const { files, conventions, random } = deps;
  const shell = async (request: HttpRequest): Promise<HttpResponse> => {
    const file = await files.find('index.html');
    if (file === undefined) return missingResponse(NOT_BUILT);
    const nonce = Buffer.from(random.bytes(16)).toString('base64url');
    return shellResponse(file, { nonce, openedFrom: isOfOthers(request) ? 'elsewhere' : 'here' });
  };
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const name = request.parameters['*'] ?? '';
    // Page paths may contain table names with dots; built files are in two folders.
    const isHashed = name.startsWith('assets/');
    if (!isHashed && !/^[\w-]+\.(?:js|svg|lp)$/.test(name)) return await shell(request);
    const file = await files.find(name);
    return file === undefined
      ? missingResponse('no such file\n')
      : fileResponse(file, request, isHashed);
  };
  const toConsole = (): HttpResponse => emptyResponse(303, [['location', HOME]]);
  return {
    name: 'console',
    routeGroups() {
      const rootConventions = deps.conventionsOf('/');
      return [
        {
          conventions,
          api: 'operator',
          routes: [
            page('/console', 'The web console', FILE, shell),
            page('/console/*', 'Pages and files of the web console', FILE, handle),
          ],
        },
        {
          conventions: rootConventions,
          api: 'operator',
          routes: [
            page('/', 'Redirect browsers to the console', REDIRECT, async (request) => {
              if (asksForPage(request)) return toConsole();
              // Other clients receive the same response as for an unknown path.
              await rootConventions.identify(request, undefined);
              return rootConventions.notFoundResponse(request, []);
            }),
          ],
        },
      ];
    },
    async start() {},
    async close() {},
  };
}

/** Whether a foreign page opened this one, by a header that pages cannot change. Other ports of this host count as foreign. */
function isOfOthers({ headers }: HttpRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'none' && site !== 'same-origin';
}

const asksForPage = ({ headers }: HttpRequest): boolean =>
  headers['accept']?.includes('text/html') === true;

const FILE = { 200: OpenApi.response('the file', OpenApi.html) };
const REDIRECT = { 303: OpenApi.response('to /console/') };

const page = (
  path: string,
  summary: string,
  output: Route['output'],
  handle: Route['handle'],
): Route => ({ method: 'GET', path, access: 'public', about: { summary }, output, handle });
