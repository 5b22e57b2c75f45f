import {
  type BodyRule,
  described,
  emptyAnswer,
  type Route,
  type RouteMethod,
  type RouteWords,
} from '@plinth/kernel';
import type { TsdbSettings } from '../config.js';
import { ManagementInput } from './configure/management-input.js';
import { JUDGED, MANAGEMENT_FAILED, NO_CONTENT } from './description.js';

/** Makes routes for admins, which take bodies up to the limit of the service. */
export class AdminRoutes {
  readonly #body: BodyRule;

  constructor({ max_request_size_bytes }: TsdbSettings) {
    this.#body = { maxBytes: max_request_size_bytes };
  }

  get(path: string, words: RouteWords, handle: Route['handle']): Route {
    return { method: 'GET', path, access: 'admin', ...described(words, JUDGED), handle };
  }

  send(
    method: Exclude<RouteMethod, 'GET'>,
    path: string,
    words: RouteWords,
    handle: Route['handle'],
  ): Route {
    return { method, path, access: 'admin', body: this.#body, ...described(words, JUDGED), handle };
  }

  /** A query stands in the target or in a body. */
  query(path: string, words: RouteWords, handle: Route['handle']): readonly Route[] {
    const { body, query, ...others } = words;
    const byUrl = { ...others, ...(query && { query }) };
    return [
      this.get(path, byUrl, handle),
      this.send('POST', path, body === undefined ? byUrl : { ...others, body }, handle),
    ];
  }

  /** Does what it is told, and answers without a body. */
  command(
    method: Exclude<RouteMethod, 'GET'>,
    path: string,
    words: RouteWords,
    act: (input: ManagementInput) => Promise<unknown>,
    options: { readonly status?: 204; readonly isOfQuery?: boolean } = {},
  ): Route {
    const done = emptyAnswer(options.status ?? 200);
    const output = options.status === 204 && NO_CONTENT;
    const all = { errors: MANAGEMENT_FAILED, ...(output && { output }), ...words };
    return this.send(method, path, all, async (request) => {
      await act(
        options.isOfQuery === true ? ManagementInput.ofQuery(request) : ManagementInput.of(request),
      );
      return done;
    });
  }
}
