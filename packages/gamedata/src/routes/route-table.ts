import type { FastifyInstance } from 'fastify';

/** Which methods a path has: a request with another one is told. */
export class RouteTable {
  readonly #routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];

  /** Listens to what is registered in this scope from here on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method }) => {
      const source = url
        .split('/')
        .map((part) =>
          part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
        )
        .join('/');
      this.#routes.push({
        pattern: new RegExp(`^${source}$`),
        methods: Array.isArray(method) ? method : [method],
      });
    });
  }

  methodsOf(path: string): readonly string[] {
    const found = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => methods))];
  }
}
