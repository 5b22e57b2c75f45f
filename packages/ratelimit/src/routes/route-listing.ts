import type { Route } from '@plinth/kernel';
import type { Plan } from '../model/plan.js';

/** Cost of a request to one route. */
export interface ListedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  /** Endpoint whose points are counted. */
  readonly endpoint: string;
  readonly resource: string;
  readonly cost: number;
  readonly points: number;
  readonly content: boolean;
  readonly heavy: number;
  readonly exempt: boolean;
}

/** Collects the routes of rate-limited services as they are registered. */
export class RouteListing {
  readonly #routes: ListedRoute[] = [];

  add(service: string, { method, path, hasHead }: Route, plan: Plan | 'exempt'): void {
    const isExempt = plan === 'exempt';
    for (const each of method === 'GET' && hasHead !== false ? ['GET', 'HEAD'] : [method]) {
      this.#routes.push({
        service,
        method: each,
        path,
        endpoint: isExempt ? '' : plan.endpoint,
        resource: isExempt ? '' : plan.resource.name,
        cost: isExempt ? 0 : plan.cost,
        points: isExempt ? 0 : plan.points,
        content: !isExempt && plan.contentCount > 0,
        heavy: isExempt ? 0 : plan.heavy,
        exempt: isExempt,
      });
    }
  }

  list(): readonly ListedRoute[] {
    return this.#routes;
  }
}
