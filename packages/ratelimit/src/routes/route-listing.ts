import type { RouteOptions } from 'fastify';
import type { Plan } from '../model/plan.js';

/** What a request to one route costs. */
export interface ListedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly resource: string;
  readonly cost: number;
  readonly points: number;
  readonly content: boolean;
  readonly heavy: number;
  readonly exempt: boolean;
}

/** All routes of services with limits, as they are registered. */
export class RouteListing {
  readonly #routes: ListedRoute[] = [];

  add(service: string, route: RouteOptions, planOf: (method: string) => Plan | 'exempt'): void {
    for (const method of [route.method].flat()) {
      const plan = planOf(method);
      const isExempt = plan === 'exempt';
      this.#routes.push({
        service,
        method,
        path: route.url,
        resource: isExempt ? '' : plan.resource.name,
        cost: isExempt ? 0 : plan.cost,
        points: isExempt ? 0 : plan.points,
        content: !isExempt && plan.isContent,
        heavy: isExempt ? 0 : plan.heavy,
        exempt: isExempt,
      });
    }
  }

  list(): readonly ListedRoute[] {
    return this.#routes;
  }
}
