import {
  type DescribedRoute,
  type InputReader,
  inputReader,
  invariant,
  type Route,
  type RouteAccess,
  type RouteTable,
} from '@plinth/kernel';
import createRouter, { type HTTPMethod } from 'find-my-way';
import type { RouteNumbers } from './http-metrics.js';

/** A route with what the server knows of it. */
export interface ServedRoute extends DescribedRoute {
  readonly readInput: InputReader;
  readonly numbers: RouteNumbers;
}

export interface FoundRoute {
  readonly served: ServedRoute;
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** A method of a route, as `/ops/v1/routes` tells it. */
export interface ListedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly access: RouteAccess;
}

/** What routes have in their paths beside parameters, so that a path in its normal form is compared as it is. */
const PATH = /^(?=\/)(?:\/(?:[\w\-.~]*|:[A-Za-z]+))*(?:\/\*)?$/;
/** What fits into a request line reaches its route, so that an id of any length is one that nobody has. */
const MAX_PARAMETER_LENGTH = 65_536;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Finds the route of a method and a path. */
export class Router {
  /** Of paths without parameters, by method and path: most of what is asked, and found at once. */
  readonly #fixed = new Map<string, FoundRoute>();
  /** Of paths with parameters, by method and path without the names of these. */
  readonly #parametric = new Map<string, ServedRoute>();
  /** Knows `#parametric`. Made when it is asked first: it compiles code for each path, for which a start need not wait. */
  #finder: ReturnType<typeof makeFinder> | undefined;
  readonly #routes: ListedRoute[] = [];
  readonly #served: ServedRoute[] = [];

  /** Of two routes for one method and path the first stays. */
  add(
    service: string,
    table: RouteTable,
    route: Route,
    numbersOf: (method: string) => RouteNumbers,
  ): void {
    const { method, path, access, hasHead } = route;
    invariant(PATH.test(path), `${path} consists of unreserved characters`);
    invariant(access !== undefined, `${method} ${path} says who may use it`);
    const readInput = inputReader(route);
    for (const each of method === 'GET' && hasHead !== false ? ['GET', 'HEAD'] : [method]) {
      const key = `${each} ${path.replace(/:[A-Za-z]+/g, ':')}`;
      if (this.#fixed.has(key) || this.#parametric.has(key)) continue;
      const served: ServedRoute = { route, table, readInput, numbers: numbersOf(each) };
      if (/[:*]/.test(path)) this.#parametric.set(key, served);
      else this.#fixed.set(key, { served, parameters: {} });
      this.#finder = undefined;
      if (each === method) this.#served.push(served);
      this.#routes.push({ service, method: each, path, access });
    }
  }

  find(method: string, path: string): FoundRoute | undefined {
    const fixed = this.#fixed.get(`${method} ${path}`);
    if (fixed !== undefined) return fixed;
    this.#finder ??= makeFinder(this.#parametric);
    const found = this.#finder.find(method as HTTPMethod, path);
    if (found === null || found.store === null) return undefined;
    // Nothing has U+0000 in its name, and not every store can be asked for it.
    if (Object.values(found.params).some((text) => text?.includes('\0'))) return undefined;
    return { served: found.store as ServedRoute, parameters: found.params };
  }

  methodsOf(path: string): readonly string[] {
    return METHODS.filter((method) => this.find(method, path) !== undefined);
  }

  get routes(): readonly ListedRoute[] {
    return this.#routes;
  }

  /** Once each, as they are described. */
  get served(): readonly ServedRoute[] {
    return this.#served;
  }
}

function makeFinder(served: ReadonlyMap<string, ServedRoute>) {
  const finder = createRouter({
    maxParamLength: MAX_PARAMETER_LENGTH,
    querystringParser: () => ({}), // Queries are for those who are asked.
  });
  for (const [key, one] of served) {
    const method = key.slice(0, key.indexOf(' ')) as HTTPMethod; // all that routes have are methods of Node
    finder.on(method, one.route.path, () => undefined, one);
  }
  return finder;
}
