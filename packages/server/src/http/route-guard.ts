import {
  AppJwtRefused,
  accessOf,
  invariant,
  NotAuthenticated,
  type Principal,
  type RouteAccess,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

/** A method of a route, as it was registered. */
export interface GuardedRoute {
  readonly service: string;
  readonly method: string;
  /** With parameters: `/things/:id`. */
  readonly path: string;
  readonly access: RouteAccess;
}

export interface GuardNeeds {
  grants(access: RouteAccess | undefined, principal: Principal | undefined): boolean;
  /** In the words of the service whose path it is. */
  refuse(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

/** What routes and fronts have in their paths beside parameters, so that a path in its normal form is compared as it is. */
const PATH = /^(?:\/(?:[\w\-.~]*|:[A-Za-z]+|\*))+$/;

/**
 * Stands where handlers are called and lets in whom the route names, whatever came before it has decided. A route that names
 * nobody is not registered.
 */
export class RouteGuard {
  readonly #needs: GuardNeeds;
  readonly #routes: { readonly service: string; readonly options: RouteOptions }[] = [];

  constructor(needs: GuardNeeds) {
    this.#needs = needs;
  }

  /** Before the routes of `service` are registered in `scope` and below. */
  watch(scope: FastifyInstance, service: string): void {
    scope.addHook('onRoute', (options) => {
      invariant(PATH.test(options.url), `${options.url} consists of unreserved characters`);
      this.#routes.push({ service, options });
      const { handler } = options;
      const { grants, refuse } = this.#needs;
      options.handler = function guarded(request, reply) {
        const access = accessOf(request);
        if (grants(access, request.principal)) return handler.call(this, request, reply);
        return refuse(refusalOf(access), request, reply);
      };
    });
  }

  /** All routes, once they are registered. */
  get routes(): readonly GuardedRoute[] {
    return this.#routes.flatMap(({ service, options: { method, url: path, config } }) => {
      const access = config?.access;
      invariant(access !== undefined, `${method} ${path} says who may use it`);
      return [method].flat().map((each) => ({ service, method: each, path, access }));
    });
  }
}

const refusalOf = (access: RouteAccess | undefined): Error =>
  access === 'app' ? new AppJwtRefused('undecodable') : new NotAuthenticated();
