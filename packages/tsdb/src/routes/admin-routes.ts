import { type BodyRule, emptyAnswer, type Route, type RouteMethod } from '@plinth/kernel';
import type { TsdbSettings } from '../config.js';
import { ManagementInput } from './configure/management-input.js';

/** Makes routes for admins, which take bodies up to the limit of the service. */
export class AdminRoutes {
  readonly #body: BodyRule;

  constructor({ max_request_size_bytes }: TsdbSettings) {
    this.#body = { maxBytes: max_request_size_bytes };
  }

  get(path: string, handle: Route['handle']): Route {
    return { method: 'GET', path, access: 'admin', handle };
  }

  send(method: Exclude<RouteMethod, 'GET'>, path: string, handle: Route['handle']): Route {
    return { method, path, access: 'admin', body: this.#body, handle };
  }

  /** A query stands in the target or in a body. */
  query(path: string, handle: Route['handle']): readonly Route[] {
    return [this.get(path, handle), this.send('POST', path, handle)];
  }

  /** Does what it is told, and answers without a body. */
  command(
    method: Exclude<RouteMethod, 'GET'>,
    path: string,
    act: (input: ManagementInput) => Promise<unknown>,
    options: { readonly status?: 204; readonly isOfQuery?: boolean } = {},
  ): Route {
    const done = emptyAnswer(options.status ?? 200);
    return this.send(method, path, async (request) => {
      await act(
        options.isOfQuery === true ? ManagementInput.ofQuery(request) : ManagementInput.of(request),
      );
      return done;
    });
  }
}
