import type { Principal } from './access/principal.js';
import type { RouteAccess } from './access/route-access.js';
import type { HttpHead } from './http-request.js';
import type { HeaderList, HttpResponse } from './http-response.js';

/** The description of error responses. */
export interface ApiRefusals {
  /** The name of the schema of error bodies. */
  readonly name: string;
  readonly schema: object;
  /** The errors that any route may return, by status. */
  readonly shared: Readonly<Record<number, string>>;
}

/** How the routes of a service identify clients and format errors, and the headers they set. */
export interface ApiConventions {
  /** The name by which the limiter identifies the service. */
  readonly service: string;
  /**
   * The paths whose unknown routes these API conventions handle. `/v2/core` covers itself and everything below `/v2/core/`; the longest
   * match wins. `/` covers only itself.
   */
  readonly paths: readonly string[];
  /** Whether a request outside all paths contains a valid credential of this service. */
  hasOwnCredential?(request: HttpHead): boolean;
  /** Whether unauthenticated clients can see if a path exists. */
  readonly revealsPaths?: boolean;
  /**
   * Returns the principal of a request, which may be `anonymous`. Errors are passed to `errorResponse`. On the hot
   * path, it should return the principal without a promise.
   * @param access declared access of the route; `undefined` without a route, which must not be visible to an
   * unauthenticated client.
   */
  identify(request: HttpHead, access: RouteAccess | undefined): Principal | Promise<Principal>;
  /** Absent when the API description of its routes has no error bodies. */
  readonly refusals?: ApiRefusals;
  /** Returns the response for an error of `identify`, checks or handlers. */
  errorResponse(error: unknown, request: HttpHead): HttpResponse;
  /**
   * Returns the response for an unknown path or method.
   * @param allowed the methods of the path, for `Allow`; empty when the path does not exist.
   */
  notFoundResponse(request: HttpHead, allowed: readonly string[]): HttpResponse;
  /** Returns the headers of every response, including errors. Returns the same list each time if it does not vary. */
  headers?(request: HttpHead): HeaderList;
  /**
   * Returns the headers of an error response that the limiter creates for the service, in addition to the
   * limiter's own.
   */
  refusalHeaders?(request: HttpHead): HeaderList;
  /** Completes the body of such a response with the fields that clients of the service expect. */
  formatRefusal?(body: object): object;
  /**
   * Handles `OPTIONS` requests, which need no credential. If this is absent, they are authenticated and
   * routed.
   * @param methods methods of the path; empty when the path does not exist.
   * @returns `undefined` to treat the request like one with an unknown method.
   */
  preflightResponse?(request: HttpHead, methods: readonly string[]): HttpResponse | undefined;
}
