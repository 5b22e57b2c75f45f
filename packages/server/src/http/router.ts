import {
  type DescribedRoute,
  type InputReader,
  inputReader,
  invariant,
  type Route,
  type RouteAccess,
  type RouteGroup,
} from '@plinth/kernel';
import createRouter, { type HTTPMethod } from 'find-my-way';
import type { RouteMetrics } from './http-metrics.js';

/** A route with its service's table and its metrics. */
export interface RegisteredRoute extends DescribedRoute {
  readonly readInput: InputReader;
  readonly metrics: RouteMetrics;
}

export interface FoundRoute {
  readonly registered: RegisteredRoute;
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** A route's method as listed by `/ops/v1/routes`. */
export interface ListedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly access: RouteAccess;
}

/** Route paths consist of unreserved characters and parameters, so that normalized paths can be compared directly. */
const PATH = /^(?=\/)(?:\/(?:[\w\-.~]*|:[A-Za-z]+))*(?:\/\*)?$/;
/** As long as a request line, so that an overlong id is simply not found. */
const MAX_PARAMETER_LENGTH = 65_536;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Finds the route for method and path. */
export class Router {
  /** Routes without parameters, by method and path: the common case, with a single lookup. */
  readonly #fixed = new Map<string, FoundRoute>();
  /** Routes with parameters, by method and path without parameter names. */
  readonly #parametric = new Map<string, RegisteredRoute>();
  /** Index of `#parametric`. Created lazily, because it compiles code for each path. */
  #finder: ReturnType<typeof makeFinder> | undefined;
  readonly #routes: ListedRoute[] = [];
  readonly #registered: RegisteredRoute[] = [];

  /** The first route for a method and path wins. */
  add(
    service: string,
    table: RouteGroup,
    route: Route,
    metricsOf: (method: string) => RouteMetrics,
  ): void {
    const { method, path, access, hasHead } = route;
    invariant(PATH.test(path), `${path} must consist of unreserved characters`);
    invariant(access !== undefined, `${method} ${path} must declare its access`);
    const readInput = inputReader(route);
    for (const each of method === 'GET' && hasHead !== false ? ['GET', 'HEAD'] : [method]) {
      const key = `${each} ${path.replace(/:[A-Za-z]+/g, ':')}`;
      if (this.#fixed.has(key) || this.#parametric.has(key)) continue;
      const registered: RegisteredRoute = { route, table, readInput, metrics: metricsOf(each) };
      if (/[:*]/.test(path)) this.#parametric.set(key, registered);
      else this.#fixed.set(key, { registered, parameters: {} });
      this.#finder = undefined;
      if (each === method) this.#registered.push(registered);
      this.#routes.push({ service, method: each, path, access });
    }
  }

  find(method: string, path: string): FoundRoute | undefined {
    const fixed = this.#fixed.get(`${method} ${path}`);
    if (fixed !== undefined) return fixed;
    this.#finder ??= makeFinder(this.#parametric);
    const match = this.#finder.find(method as HTTPMethod, path);
    if (match === null || match.store === null) return undefined;
    // No name contains U+0000, and some stores reject it in queries.
    if (Object.values(match.params).some((text) => text?.includes('\0'))) return undefined;
    return { registered: match.store as RegisteredRoute, parameters: match.params };
  }

  methodsOf(path: string): readonly string[] {
    return METHODS.filter((method) => this.find(method, path) !== undefined);
  }

  get routes(): readonly ListedRoute[] {
    return this.#routes;
  }

  /** Each route once, in the order of registration. */
  get registered(): readonly RegisteredRoute[] {
    return this.#registered;
  }
}

function makeFinder(registered: ReadonlyMap<string, RegisteredRoute>) {
  const finder = createRouter({
    maxParamLength: MAX_PARAMETER_LENGTH,
    querystringParser: () => ({}), // Handlers parse queries.
  });
  for (const [key, one] of registered) {
    const method = key.slice(0, key.indexOf(' ')) as HTTPMethod; // Routes only have Node's methods.
    finder.on(method, one.route.path, () => undefined, one);
  }
  return finder;
}
